"""Kinds of work on the training thread outside of TensorFlow's runtime: one table, recognised by what ran.

The running code is named as ``called.doing`` names it: the functions of libraries below a line of the user's, and the
API that its running expression stands for. The first kind that fits is it. Names with "?" are methods of objects that
are not known; none goes by a word that a user chose.
"""

from __future__ import annotations

import re
from collections import Counter
from functools import lru_cache
from typing import Literal, NamedTuple

from tfperfkit.records.samples import Frame
from tfperfkit.rule import Evidence
from tfperfkit_rules.measures import shared
from tfperfkit_rules.measures.called import name_apis, name_package

#: Who tells a kind: "work" is the hot Python of LIN001, "side" what watches the work (STP001), "wait" a wait on purpose
#: (STP004), "collect" a garbage collection by hand (STP005).
Role = Literal["work", "side", "wait", "collect"]


class Kind(NamedTuple):
    """``words``: after "48 % of a step is". ``advice``: without its full stop. ``word``: for tests and tables."""

    word: str
    words: str
    advice: str
    wanted: re.Pattern[str]
    role: Role = "work"

    @property
    def advice_without_loop(self) -> str:
        """The advice for work that no loop repeats."""
        return self.advice.replace(BEFORE, "")


def _kind(word: str, words: str, advice: str, *patterns: str, role: Role = "work") -> Kind:
    return Kind(word, words, advice, re.compile("|".join(patterns)), role)


#: Words for advice about a loop: work that is needed once goes before it.
BEFORE = ", before the loop"
#: In the advice for Python: what a finding that knows the loop replaces.
ONE_BY_ONE = "instead of one element at a time"
_AHEAD = "prepare it ahead, in a thread with a queue or in tf.data with prefetch"
KINDS: tuple[Kind, ...] = (
    _kind(
        "sleep",
        "sleeping",
        "Remove the pause. Or: block until what it waits for is there (an event, a queue, a blocking read)",
        r"^time\.sleep$",
        role="wait",
    ),
    _kind(
        "starting",
        "starting and ending processes",
        f"Start the processes once{BEFORE}, and keep them: pool = multiprocessing.Pool(n); the loop only gives it work",
        # Calls that end a pool don't wait for its work.
        r"^multiprocessing\.(pool\.(Pool\.)?(__init__|__exit__|terminate)|(context\.)?Pool|pool\.Pool)$",
        r"^(multiprocessing\.(context\.|dummy\.)?(Process\(\)|process)\.start|os\.fork)$",
        role="wait",
    ),
    _kind(
        "threads",
        "waiting for other threads, processes or queues",
        "Give what it waits for more workers. Or: start that earlier, so that the result is ready when it is needed",
        r"^(threading|_thread|queue|multiprocessing|concurrent\.futures|joblib)\.",
        r"^(select|selectors|signal\.(pause|sigwait)|os\.(wait|waitpid|wait4))\b",
        r"^asyncio\.",  # a coroutine that waits has no frame, the event loop has one
        role="wait",
    ),
    _kind(
        "input",
        "waiting for the keyboard",
        "Ask before the loop. Or: take the answer from the command line",
        r"^builtins\.input$|^getpass\.",
        role="wait",
    ),
    _kind(
        "programs",
        "running other programs",
        "Start the program once, and keep it running. Or: call a library that does the same, or " + _AHEAD,
        r"^subprocess\.|^os\.(system|popen|spawn\w*|posix_spawn\w*)$|^pexpect\.|^pty\.|^IPython\.",
        role="wait",
    ),
    _kind(
        "collect",
        "collecting garbage by hand",
        "Remove gc.collect() from the loop: Python collects by itself. Or: call it every few hundred iterations",
        r"^gc\.collect$",
        role="collect",
    ),
    _kind(
        "clear",
        "clearing Keras' session",
        f"Make the model once{BEFORE}, and remove clear_session(): nothing is left to clear",
        r"^keras\.(src\.)?(backend\.|utils\.)?(common\.global_state\.)?clear_session$",
        role="collect",
    ),
    _kind(
        "network",
        "waiting for the network or a database",
        "Fetch ahead, in a thread with a queue or in tf.data with prefetch. Or: fetch many rows with one request, over "
        "one connection that stays open",
        r"^(requests|urllib|urllib3|http|socket|ssl|ftplib|smtplib|paramiko|boto3|botocore|s3fs|gcsfs|redis|sqlite3|"
        r"psycopg2?|pymysql|mysql|pymongo|sqlalchemy|aiohttp|httpx|websockets?|grpc|kafka|pika|google\.cloud|azure)\.",
        r"^\?\.(execute|executemany|fetchone|fetchmany|fetchall|recv)$",
    ),
    _kind(
        "plotting",
        "drawing figures",
        "Draw once, after the loop, from numbers that it keeps. Or: draw every few hundred iterations, and close each "
        "figure (plt.close)",
        r"^(matplotlib|seaborn|plotly|bokeh|altair|pylab)\.|^\?\.savefig$|\.(imsave|savefig)$",
        role="side",
    ),
    _kind(
        "progress",
        "drawing progress bars",
        "Refresh the bar seldom: tqdm(..., mininterval=1). Or: leave values of tensors out of its description",
        r"^(tqdm|progressbar|alive_progress|progress|enlighten)\.|^rich\.progress\.|"
        r"^keras\.src\.utils\.progbar\.|^keras\.utils\.Progbar",
        role="side",
    ),
    _kind(
        "printing",
        "printing and logging",
        "Print every 100 steps, and read the values of tensors only then",
        r"^builtins\.print$|^tensorflow\.print$|^tensorflow\.python\.ops\.logging_ops\.print|^logging(\.|$)|"
        r"^absl\.logging|^rich\.|^loguru\.|^sys\.(stdout|stderr)\.|^colorama\.|^warnings\.warn",
        role="side",
    ),
    _kind(
        "writing",
        "writing files and drawing",
        "Write every few hundred steps. Or: write in another process",
        r"^(wandb|mlflow|tensorboardX|neptune|comet_ml|clearml)\.|^imageio\..*(write|save)|"
        r"^PIL\.Image\.save$|^PIL\.Image(\.\w+)?\(\)(\.\w+\(\))*\.save$|^cv2\.imwrite$|"
        r"^numpy\.(.*\.)?(save|savez|savez_compressed|savetxt|_savez)$|^numpy\..*\.tofile$|"
        r"^(json|pickle|marshal|yaml|joblib)\.(.*\.)?dump$|"
        r"^pandas\..*\.to_(csv|parquet|pickle|json|hdf|feather|excel)$|"
        r"^h5py\..*(create_dataset|create_group|require_dataset|__setitem__|write|flush)|"
        r"^(builtins\.open|io\.open|open)\(\)\.(write|writelines|flush)$|^csv\.(writer|DictWriter)\(\)\.\w+$|"
        r"^\?\.(writerow|writerows|flush|writelines)$|^tensorflow\.(io|summary)\..*(write|flush)|^shutil\.(copy|move)",
        role="side",
    ),
    _kind(
        "drawing",
        "drawing on images",
        "Draw only on images that are shown or kept. Or: draw in another process",
        r"^PIL\.(ImageDraw|ImageFont)\b|^cv2\.(rectangle|circle|line|arrowedLine|ellipse|polylines|fillPoly|drawContours|"
        r"drawMarker|drawKeypoints|putText|getTextSize|imshow|waitKey)$|^skimage\.draw\.",
        role="side",
    ),
    _kind(
        "images",
        "reading and converting images",
        "Decode and resize images in a tf.data map (tf.io.decode_jpeg, tf.image.resize) with "
        "num_parallel_calls=tf.data.AUTOTUNE and prefetch. Or: convert them once before the loop",
        r"^(PIL|cv2|imageio|skimage|torchvision|albumentations|imgaug|scipy\.ndimage|pydicom|nibabel|tifffile)\.",
        r"^keras\.(src\.)?(utils\.image_utils|utils\.(load_img|img_to_array|array_to_img|save_img)|preprocessing\.image|"
        r"legacy\.preprocessing\.image)",
    ),
    _kind(
        "sound",
        "reading sound",
        "Decode and transform sound in a tf.data map (tf.audio.decode_wav, tf.signal.stft) with "
        "num_parallel_calls=tf.data.AUTOTUNE and prefetch. Or: transform it once before the loop, and keep the "
        "result in a file",
        r"^(librosa|soundfile|wave|audioread|torchaudio|pydub|scipy\.io\.wavfile)\.",
    ),
    _kind(
        "examples",
        "making tf.train.Example records",
        "Store each array as bytes, not as a list of numbers: tf.train.BytesList(value=[array.tobytes()]), read with "
        "tf.io.decode_raw. Or: write shards in several processes",
        r"^tensorflow\.(core\.example\.|train\.(Example|SequenceExample|Features?|FeatureLists?|(Float|Int64|Bytes)List)\b)",
    ),
    _kind(
        "keras data",
        "preparing data with Keras' utilities",
        f"Prepare the data once{BEFORE}, and keep the arrays. Or: use tf.data with prefetch for what differs each time",
        r"^keras\.(src\.)?(datasets\.|utils\.(image_dataset|text_dataset|timeseries_dataset|audio_dataset|sequence_utils|"
        r"numerical_utils|file_utils|dataset_utils|to_categorical|pad_sequences|get_file|normalize|split_dataset)|"
        r"preprocessing\.|legacy\.preprocessing\.)",
    ),
    _kind(
        "drawing lots",
        "random draws with probabilities",
        "Draw many at a time: each draw goes over all probabilities. Or: keep a running sum (a sum tree)",
        r"^numpy\.random\..*choice$|^random\.(Random\(\)\.)?choices$|^\?\.choice$",
    ),
    _kind(
        "copying",
        "copying",
        "Copy only what changes. Or: keep one array, and write into it in place",
        r"^copy\.|^numpy\.copy$|^numpy\..*\(\)\.copy$|^\?\.copy$|^builtins\.(list|dict|set)\(\)\.copy$",
    ),
    _kind(
        "joining",
        "padding and joining arrays",
        f"Make one array of all rows once{BEFORE}, and pick from it. Or: pad rows of different lengths in tf.data "
        "(padded_batch with prefetch) or as tf.ragged.constant(rows), and join pieces once, from a list",
        r"^numpy\.(.*\.)?(pad|stack|vstack|hstack|dstack|column_stack|concatenate|append|block)$",
    ),
    _kind(
        "pandas rows",
        "pandas calling a function for each row or column",
        "Write the function for whole columns: df['a'] * df['b'], numpy.where(...), df.to_numpy().mean(axis=1)",
        r"^pandas\.(.*\.)?(apply|applymap|iterrows|itertuples)$",
    ),
    _kind(
        "pandas",
        "pandas",
        f"Take the columns out of pandas once{BEFORE} (df.to_numpy()), and pick batches from the arrays",
        r"^(pandas|polars|modin|dask)\.",
    ),
    _kind(
        "parsing",
        "parsing and serialising",
        f"Read and parse it once{BEFORE}, and keep arrays (numpy.save, TFRecord). Or: send the bytes of an array "
        "(array.tobytes(), numpy.frombuffer) instead of text",
        r"^(json|_json|simplejson|ujson|orjson|pickle|_pickle|cloudpickle|dill|yaml|csv|_csv|marshal|xml|lxml|html|bs4|"
        r"tomllib|configparser|struct|base64|ast\.literal_eval|msgpack|google\.protobuf)\.?",
    ),
    _kind(
        "hashing",
        "hashing",
        "Hash once, and keep the result. Or: use a cheap key, such as an index",
        r"^(hashlib|_hashlib|hmac|uuid|secrets|xxhash|mmh3)\.|^zlib\.(crc32|adler32)$|^binascii\.crc",
    ),
    _kind(
        "reading",
        "reading and decompressing files",
        f"Read the file once{BEFORE}, and keep the arrays. Or: read it ahead in tf.data (interleave, map with "
        "num_parallel_calls, prefetch) if it does not fit into memory",
        r"^(gzip|zipfile|tarfile|bz2|lzma|zlib|h5py|tables|netCDF4|zarr|pyarrow|fsspec|glob|fnmatch)\.",
        r"^builtins\.open|^io\.|^os\.(listdir|walk|scandir|stat|path\.(exists|getsize|isfile|isdir)|read|open)|"
        r"^(pathlib|genericpath|posixpath|ntpath)\.|^numpy\.(load|loadtxt|genfromtxt|fromfile|memmap|.*npyio)|"
        r"^\?\.(read|readline|readlines)$|^builtins\.open\(\)",
    ),
    _kind(
        "regular expressions",
        "matching regular expressions",
        f"Process all texts once{BEFORE}. Or: use tf.data: tf.strings.regex_replace, tf.strings.split, "
        "tf.keras.layers.TextVectorization",
        r"^(re|_sre|regex|sre_\w+)\.",
    ),
    _kind(
        "text",
        "splitting and changing text",
        f"Turn all texts into numbers once{BEFORE}, and pick rows of the array. Or: use tf.data: "
        "tf.strings.*, tf.keras.layers.TextVectorization",
        r"^(nltk|spacy|jieba|sentencepiece|transformers|tokenizers|gensim|textblob|string|unicodedata|difflib)\.",
        r"^(\?|builtins\.(str|chr|repr|format)(\(\))?|builtins\.open\(\)\.read\(\)|[\w.]*\(\))\."
        r"(lower|upper|strip|lstrip|rstrip|splitlines|casefold|translate|startswith|endswith|isalpha|isalnum|isdigit|"
        r"title|rpartition|partition|replace)$|^\?\.(split|join|encode|decode)$",
    ),
    _kind(
        "environment",
        "stepping an environment",
        "Step several environments at a time, in processes of their own, while the network learns",
        r"^(gym|gymnasium|pettingzoo|ale_py|dm_env|dm_control|procgen|mujoco|pybullet)\.",
    ),
    _kind(
        "random",
        "drawing random numbers one at a time",
        "Draw many at a time: rng = numpy.random.default_rng(); rng.random(n), rng.integers(low, high, n)",
        r"^random\.|^secrets\.",
    ),
)
#: NumPy on whole arrays, and Python itself: what is left.
NUMPY = _kind(
    "numpy",
    "NumPy",
    f"Do what is the same each time once{BEFORE}. Or: move it into tf.data with prefetch, where it runs while the "
    "model computes",
    r"^(numpy|scipy)\.",
)
PYTHON = _kind(
    "python",
    "Python",
    f"Compute on whole arrays with NumPy or TensorFlow {ONE_BY_ONE}. Or: do it once before the loop, or prepare "
    "batches ahead in tf.data with prefetch",
    r"",
)


def kind_of(evidence: Evidence, frame: Frame) -> Kind:
    """Return what a frame of the user's was doing; ``PYTHON`` when nothing tells."""
    return _named(name_apis(evidence, frame))


@lru_cache(maxsize=4096)
def _named(names: tuple[str, ...]) -> Kind:
    named = [name for name in names if name]
    return next((kind for kind in (*KINDS, NUMPY) if any(kind.wanted.search(name) for name in named)), PYTHON)


def package(evidence: Evidence, frames: Counter[Frame]) -> str:
    """Return the package that most of these frames were in; "" for Python and its library."""
    found: Counter[str] = Counter()
    for frame, count in frames.items():
        found[name_package(name_apis(evidence, frame))] += count
    return found.most_common(1)[0][0] if found else ""


def api(evidence: Evidence, frames: Counter[Frame], kind: Kind) -> str:
    """Return the function that most of these frames of a kind were in, as ``json.loads``; "" where several were."""
    names: Counter[str] = Counter()
    for frame, count in frames.items():
        own = [name for name in name_apis(evidence, frame) if kind.wanted.search(name)]
        if own:
            names[own[-1]] += count  # the user's own words come after the library's
    name, count = names.most_common(1)[0] if names else ("", 0)
    if count < shared.MOSTLY.value * frames.total():
        return ""
    short = name.replace("()", "").removeprefix("builtins.").removeprefix("?.")
    return short if len(short) <= shared.MAX_LINE.value else ""
