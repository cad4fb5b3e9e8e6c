"""Log-mel + MFCC feature extraction for a folder of short clips."""
import numpy as np
import tensorflow as tf

SR = 16000
CLIP_SECONDS = 1.0
N_FFT = 2048
HOP = 512
N_MELS = 128
FMIN, FMAX = 50.0, 7600.0
N_CLIPS = 600


def hz_to_mel(f):
    return 2595.0 * np.log10(1.0 + f / 700.0)


def mel_to_hz(m):
    return 700.0 * (10.0 ** (m / 2595.0) - 1.0)


def mel_filterbank(n_mels, n_fft, sr, fmin, fmax):
    edges = mel_to_hz(np.linspace(hz_to_mel(fmin), hz_to_mel(fmax), n_mels + 2))
    freqs = np.linspace(0, sr / 2, n_fft // 2 + 1)
    bank = np.zeros((len(freqs), n_mels), dtype=np.float32)
    for m in range(n_mels):
        lo, mid, hi = edges[m], edges[m + 1], edges[m + 2]
        for k, f in enumerate(freqs):
            if lo < f <= mid:
                bank[k, m] = (f - lo) / (mid - lo)
            elif mid < f < hi:
                bank[k, m] = (hi - f) / (hi - mid)
    return bank


def synth_clip(i):
    rng = np.random.default_rng(i)
    t = np.arange(int(SR * CLIP_SECONDS)) / SR
    f0 = rng.uniform(110, 440)
    tone = sum(np.sin(2 * np.pi * f0 * (h + 1) * t) / (h + 1) for h in range(4))
    env = np.exp(-3 * t) * (1 + 0.3 * np.sin(2 * np.pi * 5 * t))
    return (tone * env + 0.01 * rng.normal(size=t.size)).astype(np.float32)


def pre_emphasis(x, coef=0.97):
    return tf.concat([x[:1], x[1:] - coef * x[:-1]], axis=0)


def log_mel(clip):
    x = pre_emphasis(tf.convert_to_tensor(clip))
    stft = tf.signal.stft(x, frame_length=N_FFT, frame_step=HOP, pad_end=True)
    power = tf.square(tf.abs(stft))
    bank = mel_filterbank(N_MELS, N_FFT, SR, FMIN, FMAX)
    mel = tf.matmul(power, bank)
    return tf.math.log(mel + 1e-6)


def mfcc(mel, n=20):
    return tf.signal.mfccs_from_log_mel_spectrograms(mel)[..., :n]


def delta(feat):
    padded = tf.pad(feat, [[1, 1], [0, 0]], mode="SYMMETRIC")
    return 0.5 * (padded[2:] - padded[:-2])


def describe(clip):
    mel = log_mel(clip)
    c = mfcc(mel)
    d = delta(c)
    feats = tf.concat([c, d], axis=-1)
    return tf.concat([tf.reduce_mean(feats, 0), tf.math.reduce_std(feats, 0)], 0).numpy()


def main():
    rows = []
    for i in range(N_CLIPS):
        rows.append(describe(synth_clip(i)))
        if (i + 1) % 200 == 0:
            print(f"processed {i + 1} clips")
    table = np.stack(rows)
    print("feature table", table.shape)
    print("column means", np.round(table.mean(0)[:6], 4))
    np.save("/tmp/audio_features.npy", table)


if __name__ == "__main__":
    main()
