/* The marker of a known call, while nobody has to be told of steps: what ``Markers._before_call`` and ``_after_call`` do
 * then, without Python of ours between two steps, whose code and objects TensorFlow has just pushed out of the caches.
 *
 * ``Seam`` stands where ``method_seam.Around`` stands and asks it wherever a call is not such a one; ``Calls`` is what
 * the seams of a session share (``quiet.PythonCalls`` is the same in Python, and the whole of it where this file could
 * not be built). No frame of ours is on the stack. Everything here holds the interpreter's lock. */

#include "../frames.h"
#include "queue.h"
#include <structmember.h>
#include <time.h>

#define CALLERS 4 /* as in callers.py */
#define FRAMES 12
#define DEPTH 8 /* frames of TensorFlow between the user's call and the seam */

typedef struct {
    PyCodeObject *code;
    int instruction;
} Place;

typedef struct {
    Place at;       /* of TensorFlow, where the seam is looked up */
    int depth;      /* of the user's innermost frame above it */
    int length;
    PyObject *site;
    Place chain[FRAMES];
} Caller;

typedef struct { /* what is known of one function */
    PyObject_HEAD
    long long calls;
    int count;
    Caller callers[CALLERS];
} Known;

typedef struct {
    PyObject_HEAD
    Py_ssize_t inside;
    long long cost_ns;
    char held;
    char has_thread;
    unsigned long thread;
    PyObject *quietly; /* NULL: each call is told */
    Queue *queue;      /* whose ``append`` that is, or NULL; borrowed */
    PyObject *late;    /* late(site, begin, end): told after all */
    PyObject *marker;  /* the class of what ``quietly`` gets */
    PyObject *context; /* the dict of TensorFlow's module */
    PyObject *known;   /* id(function): Known, or None for one that updates nothing */
    PyObject *aside;   /* the key in the dict of a thread that trains on the side */
    unsigned long version; /* of ``known`` */
} Calls;

typedef struct {
    PyObject_HEAD
    PyObject *original;
    PyObject *slow;
    Calls *calls;
    char shared;    /* all instances are called alike: what is known stands under 0, and calls within others count */
    PyObject *last; /* the instance that was called last, and what is known of it: borrowed, while the version holds */
    Known *last_known;
    unsigned long version;
} Seam;

typedef struct { /* what the caller is handed: it calls the original and takes the times */
    PyObject_HEAD
    PyObject *original, *instance, *site;
    Calls *calls;
    Known *known;
    char nested; /* whether calls that are made meanwhile are part of it */
    long long start;
} Call;

static PyObject *name_context, *name_local, *name_eager;

static long long now_ns(void)
{
    struct timespec at;
    clock_gettime(CLOCK_MONOTONIC, &at);
    return at.tv_sec * 1000000000LL + at.tv_nsec;
}

static int is_at(Frame *frame, const Place *place)
{
    return code_of(frame) == place->code && instruction_of(frame) == place->instruction;
}

/* --- Known ------------------------------------------------------------------------------------------------------- */

static void caller_clear(Caller *caller)
{
    Py_CLEAR(caller->at.code);
    Py_CLEAR(caller->site);
    for (int i = 0; i < caller->length; i++)
        Py_CLEAR(caller->chain[i].code);
    caller->length = 0;
}

static void known_dealloc(Known *self)
{
    for (int i = 0; i < self->count; i++)
        caller_clear(&self->callers[i]);
    PyObject_Free(self);
}

static PyTypeObject KnownType = {
    PyVarObject_HEAD_INIT(NULL, 0).tp_name = "tfperfkit.instruments.steps._quiet.Known",
    .tp_basicsize = sizeof(Known),
    .tp_flags = Py_TPFLAGS_DEFAULT,
    .tp_dealloc = (destructor)known_dealloc,
};

/* The site of the call under way, a reference of its own; NULL where it must be looked up. */
static PyObject *site_of(Known *known)
{
    PyObject *found = NULL;
    Frame *innermost = frame_of(PyThreadState_Get());
    for (int i = 0; i < known->count && innermost != NULL && found == NULL; i++) {
        Caller *caller = &known->callers[i];
        if (!is_at(innermost, &caller->at))
            continue;
        Frame *frame = hold(innermost);
        int left = caller->depth, index = 0;
        while (frame != NULL && index < caller->length) {
            if (left > 0)
                left--;
            else if (!is_at(frame, &caller->chain[index++]))
                break;
            else if (index == caller->length) {
                found = Py_NewRef(caller->site);
                break;
            }
            frame = caller_of(frame);
        }
        let_go(frame);
    }
    let_go(innermost);
    return found;
}

/* --- Call -------------------------------------------------------------------------------------------------------- */

static void call_dealloc(Call *self)
{
    Py_DECREF(self->original);
    Py_DECREF(self->instance);
    Py_DECREF(self->site);
    Py_DECREF(self->calls);
    Py_DECREF(self->known);
    PyObject_Free(self);
}

/* Hand the marker to whoever wants it by calling him; -1 with an exception. */
static int note(Calls *calls, PyObject *site, long long begin, long long end)
{
    PyObject *begun = PyLong_FromLongLong(begin), *ended = PyLong_FromLongLong(end), *done = NULL;
    if (begun != NULL && ended != NULL) {
        PyObject *values[] = {site, begun, ended};
        if (calls->quietly != NULL && calls->marker != NULL) {
            PyObject *marker = PyObject_Vectorcall(calls->marker, values, 3, NULL);
            /* It may have been taken away meanwhile. */
            PyObject *to = calls->quietly != NULL ? Py_NewRef(calls->quietly) : NULL;
            if (marker != NULL && to != NULL)
                done = PyObject_CallOneArg(to, marker);
            Py_XDECREF(to);
            Py_XDECREF(marker);
        } else if (calls->late != NULL)
            done = PyObject_Vectorcall(calls->late, values, 3, NULL);
    }
    int failed = done == NULL && PyErr_Occurred() != NULL;
    Py_XDECREF(done);
    Py_XDECREF(begun);
    Py_XDECREF(ended);
    return failed ? -1 : 0;
}

static PyObject *call_call(Call *self, PyObject *args, PyObject *kwargs)
{
    Calls *calls = self->calls;
    PyObject *method = PyMethod_New(self->original, self->instance);
    if (method == NULL)
        return NULL;
    calls->inside += self->nested;
    long long begin = now_ns();
    calls->cost_ns += begin - self->start;
    PyObject *result = PyObject_Call(method, args, kwargs);
    long long end = now_ns();
    if (calls->inside > 0)
        calls->inside -= self->nested;
    self->known->calls++;

    PyObject *type, *error, *traceback; /* of the call, if it raised: nothing of it may be lost */
    if (result == NULL)
        PyErr_Fetch(&type, &error, &traceback);
    Py_DECREF(method);
    int noted = calls->queue != NULL ? queue_push(calls->queue, self->site, begin, end)
                                     : note(calls, self->site, begin, end);
    if (noted < 0)
        PyErr_Clear(); /* no memory for it: a marker is lost, and nothing of the script's */
    if (result == NULL)
        PyErr_Restore(type, error, traceback);
    calls->cost_ns += now_ns() - end;
    return result;
}

static PyTypeObject CallType = {
    PyVarObject_HEAD_INIT(NULL, 0).tp_name = "tfperfkit.instruments.steps._quiet.Call",
    .tp_basicsize = sizeof(Call),
    .tp_flags = Py_TPFLAGS_DEFAULT,
    .tp_dealloc = (destructor)call_dealloc,
    .tp_call = (ternaryfunc)call_call,
};

/* --- Calls ------------------------------------------------------------------------------------------------------- */

static PyObject *calls_new(PyTypeObject *type, PyObject *args, PyObject *kwargs)
{
    Calls *self = (Calls *)type->tp_alloc(type, 0);
    if (self == NULL)
        return NULL;
    self->known = PyDict_New();
    self->aside = PyUnicode_FromFormat("tfperfkit trains elsewhere %p", self);
    if (self->known == NULL || self->aside == NULL) {
        Py_DECREF(self);
        return NULL;
    }
    return (PyObject *)self;
}

static int calls_traverse(Calls *self, visitproc visit, void *arg)
{
    Py_VISIT(self->quietly);
    Py_VISIT(self->late);
    Py_VISIT(self->marker);
    Py_VISIT(self->context);
    Py_VISIT(self->known);
    return 0;
}

static int calls_clear(Calls *self)
{
    self->version++;
    self->queue = NULL;
    Py_CLEAR(self->quietly);
    Py_CLEAR(self->late);
    Py_CLEAR(self->marker);
    Py_CLEAR(self->context);
    Py_CLEAR(self->known);
    Py_CLEAR(self->aside);
    return 0;
}

static void calls_dealloc(Calls *self)
{
    PyObject_GC_UnTrack(self);
    calls_clear(self);
    Py_TYPE(self)->tp_free((PyObject *)self);
}

static int place_of(PyObject *code, PyObject *instruction, Place *place)
{
    long at = PyLong_AsLong(instruction);
    if ((at == -1 && PyErr_Occurred()) || !PyCode_Check(code))
        return -1;
    place->code = (PyCodeObject *)Py_NewRef(code);
    place->instruction = (int)at;
    return 0;
}

static PyObject *calls_remember(Calls *self, PyObject *args)
{
    PyObject *key, *code, *instruction, *chain, *site;
    int depth;
    if (!PyArg_ParseTuple(args, "O!OOiO!O!", &PyLong_Type, &key, &code, &instruction, &depth, &PyTuple_Type, &chain,
                          &PyLong_Type, &site))
        return NULL;
    Py_ssize_t length = PyTuple_GET_SIZE(chain);
    if (length < 1 || length > FRAMES || depth < 0 || depth > DEPTH)
        Py_RETURN_FALSE;
    Caller made = {{NULL, 0}, depth, 0, NULL, {{NULL, 0}}};
    int failed = place_of(code, instruction, &made.at);
    made.site = Py_NewRef(site);
    for (Py_ssize_t i = 0; i < length && !failed; i++) {
        PyObject *outer, *at;
        PyObject *pair = PyTuple_GET_ITEM(chain, i);
        failed = !PyTuple_Check(pair) || !PyArg_ParseTuple(pair, "OO", &outer, &at) ||
                 place_of(outer, at, &made.chain[i]);
        made.length += !failed;
    }
    self->version++;
    Known *known = failed ? NULL : (Known *)PyDict_GetItemWithError(self->known, key);
    if (!failed && !PyErr_Occurred() && (known == NULL || (PyObject *)known == Py_None)) {
        known = PyObject_New(Known, &KnownType);
        if (known != NULL) {
            known->calls = 0;
            known->count = 0;
            int kept = PyDict_SetItem(self->known, key, (PyObject *)known);
            Py_DECREF(known);
            if (kept < 0)
                known = NULL;
        }
    }
    if (known == NULL || PyErr_Occurred()) {
        caller_clear(&made);
        if (!PyErr_Occurred())
            PyErr_SetString(PyExc_TypeError, "remember: (code, instruction) pairs are expected");
        return NULL;
    }
    if (known->count == CALLERS)
        caller_clear(&known->callers[--known->count]);
    memmove(&known->callers[1], &known->callers[0], known->count * sizeof(Caller));
    known->callers[0] = made;
    known->count++;
    Py_RETURN_TRUE;
}

static PyObject *calls_pass(Calls *self, PyObject *key)
{
    self->version++;
    if (PyDict_SetItem(self->known, key, Py_None) < 0)
        return NULL;
    Py_RETURN_NONE;
}

static PyObject *calls_forget(Calls *self, PyObject *key)
{
    self->version++;
    PyObject *found = PyDict_GetItemWithError(self->known, key);
    if (found == NULL && PyErr_Occurred())
        return NULL;
    if (found == Py_None && PyDict_DelItem(self->known, key) < 0)
        return NULL;
    if (found != NULL && found != Py_None) { /* how often it was called stays known */
        Known *known = (Known *)Py_NewRef(found);
        while (known->count > 0)
            caller_clear(&known->callers[--known->count]);
        Py_DECREF(known);
    }
    Py_RETURN_NONE;
}

static PyObject *calls_drop(Calls *self, PyObject *key)
{
    self->version++;
    if (self->known != NULL && PyDict_DelItem(self->known, key) < 0)
        PyErr_Clear();
    Py_RETURN_NONE;
}

static PyObject *calls_counted(Calls *self, PyObject *key)
{
    PyObject *known = PyDict_GetItemWithError(self->known, key);
    if (known == NULL && PyErr_Occurred())
        return NULL;
    return PyLong_FromLongLong(known != NULL && known != Py_None ? ((Known *)known)->calls : 0);
}

static PyObject *calls_elsewhere(Calls *self, PyObject *Py_UNUSED(none))
{
    PyObject *local = PyThreadState_GetDict();
    if (local != NULL && PyDict_SetItem(local, self->aside, Py_True) < 0)
        return NULL;
    Py_RETURN_NONE;
}

static PyObject *calls_get_thread(Calls *self, void *Py_UNUSED(closure))
{
    if (!self->has_thread)
        Py_RETURN_NONE;
    return PyLong_FromUnsignedLong(self->thread);
}

static int calls_set_thread(Calls *self, PyObject *value, void *Py_UNUSED(closure))
{
    if (value == NULL || value == Py_None) {
        self->has_thread = 0;
        return 0;
    }
    unsigned long thread = PyLong_AsUnsignedLong(value);
    if (PyErr_Occurred())
        return -1;
    self->thread = thread;
    self->has_thread = 1;
    return 0;
}

static PyObject *calls_get_quietly(Calls *self, void *Py_UNUSED(closure))
{
    return Py_NewRef(self->quietly != NULL ? self->quietly : Py_None);
}

static int calls_set_quietly(Calls *self, PyObject *value, void *Py_UNUSED(closure))
{
    PyObject *before = self->quietly;
    self->quietly = value == NULL || value == Py_None ? NULL : Py_NewRef(value);
    PyObject *of = self->quietly != NULL && PyCFunction_Check(value) ? PyCFunction_GetSelf(value) : NULL;
    self->queue = of != NULL && Py_IS_TYPE(of, &QueueType) ? (Queue *)of : NULL;
    Py_XDECREF(before);
    return 0;
}

static PyMemberDef calls_members[] = {
    {"inside", T_PYSSIZET, offsetof(Calls, inside), 0, "observed calls that are under way, one within the other"},
    {"cost_ns", T_LONGLONG, offsetof(Calls, cost_ns), 0, "time spent in the hooks"},
    {"held", T_BOOL, offsetof(Calls, held), 0, "whether somebody waits for a call: then each is told"},
    {"late", T_OBJECT, offsetof(Calls, late), 0, "late(site, begin, end): a call has ended that is told after all"},
    {"marker", T_OBJECT, offsetof(Calls, marker), 0, "the class of a marker"},
    {"context", T_OBJECT, offsetof(Calls, context), 0, "the names of TensorFlow's module of contexts"},
    {NULL},
};

static PyGetSetDef calls_getset[] = {
    {"thread", (getter)calls_get_thread, (setter)calls_set_thread, "the training thread, or None", NULL},
    {"quietly", (getter)calls_get_quietly, (setter)calls_set_quietly, "what gets the markers, or None", NULL},
    {NULL},
};

static PyMethodDef calls_methods[] = {
    {"remember", (PyCFunction)calls_remember, METH_VARARGS,
     "remember(id, code, instruction, depth, chain, site): calls of this function from there are known"},
    {"pass_by", (PyCFunction)calls_pass, METH_O, "pass_by(id): calls of this function are of no interest"},
    {"forget", (PyCFunction)calls_forget, METH_O, "forget(id): calls of this function are told again"},
    {"drop", (PyCFunction)calls_drop, METH_O, "drop(id): the function is gone"},
    {"counted", (PyCFunction)calls_counted, METH_O, "counted(id): how many calls were noted here"},
    {"elsewhere", (PyCFunction)calls_elsewhere, METH_NOARGS, "the calling thread trains on the side"},
    {NULL},
};

static PyTypeObject CallsType = {
    PyVarObject_HEAD_INIT(NULL, 0).tp_name = "tfperfkit.instruments.steps._quiet.Calls",
    .tp_basicsize = sizeof(Calls),
    .tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE | Py_TPFLAGS_HAVE_GC,
    .tp_new = calls_new,
    .tp_dealloc = (destructor)calls_dealloc,
    .tp_traverse = (traverseproc)calls_traverse,
    .tp_clear = (inquiry)calls_clear,
    .tp_members = calls_members,
    .tp_getset = calls_getset,
    .tp_methods = calls_methods,
};

/* --- Seam -------------------------------------------------------------------------------------------------------- */

/* Whether TensorFlow runs eagerly on this thread; 0 also where that can't be told: then Python asks. */
static int eager(Calls *calls)
{
    PyObject *context = calls->context != NULL && PyDict_Check(calls->context)
                            ? PyDict_GetItemWithError(calls->context, name_context)
                            : NULL;
    if (context == NULL)
        return 0;
    PyObject *local = PyObject_GetAttr(context, name_local);
    if (local == NULL)
        return 0;
    PyObject *is = PyObject_GetAttr(local, name_eager);
    Py_DECREF(local);
    Py_XDECREF(is); /* one of two objects that live for ever */
    return is == Py_True;
}

/* NULL, mostly without an exception: this call is Python's. */
static PyObject *known_call(Seam *self, Calls *calls, PyObject *instance)
{
    long long start = now_ns();
    if (self->last != instance || self->version != calls->version) {
        PyObject *key = self->shared ? PyLong_FromLong(0) : PyLong_FromVoidPtr(instance);
        PyObject *found = key != NULL ? PyDict_GetItemWithError(calls->known, key) : NULL;
        Py_XDECREF(key);
        if (found == NULL)
            return NULL;
        self->last = instance;
        self->last_known = (Known *)found;
        self->version = calls->version;
    }
    Known *known = self->last_known;
    if ((PyObject *)known == Py_None)
        return PyMethod_New(self->original, instance);
    if (!calls->has_thread)
        return NULL;
    if (PyThread_get_thread_ident() != calls->thread) {
        PyObject *local = self->shared ? NULL : PyThreadState_GetDict();
        if (!self->shared && (local == NULL || PyDict_GetItemWithError(local, calls->aside) == NULL))
            return NULL;
        return PyMethod_New(self->original, instance);
    }
    if (calls->inside != 0 && !self->shared)
        return NULL;
    Py_INCREF(known);
    PyObject *site = site_of(known);
    Call *call = site != NULL && eager(calls) ? PyObject_New(Call, &CallType) : NULL;
    if (call == NULL) {
        Py_XDECREF(site);
        Py_DECREF(known);
        return NULL;
    }
    call->original = Py_NewRef(self->original);
    call->instance = Py_NewRef(instance);
    call->site = site;
    call->calls = (Calls *)Py_NewRef((PyObject *)calls);
    call->known = known;
    call->nested = !self->shared;
    call->start = start;
    return (PyObject *)call;
}

static PyObject *seam_get(Seam *self, PyObject *instance, PyObject *owner)
{
    if (self->original == NULL || self->slow == NULL) {
        PyErr_SetString(PyExc_AttributeError, "original");
        return NULL;
    }
    Calls *calls = self->calls;
    if (instance != NULL && instance != Py_None && calls != NULL && calls->quietly != NULL && !calls->held) {
        PyObject *found = known_call(self, calls, instance);
        if (found != NULL)
            return found;
        PyErr_Clear();
    }
    PyObject *values[] = {(PyObject *)self, instance != NULL ? instance : Py_None, owner != NULL ? owner : Py_None};
    return PyObject_Vectorcall(self->slow, values, 3, NULL);
}

static int seam_set_calls(Seam *self, PyObject *value, void *Py_UNUSED(closure))
{
    if (value == NULL || !PyObject_TypeCheck(value, &CallsType)) {
        PyErr_SetString(PyExc_TypeError, "calls: a Calls is expected");
        return -1;
    }
    PyObject *before = (PyObject *)self->calls;
    self->calls = (Calls *)Py_NewRef(value);
    Py_XDECREF(before);
    return 0;
}

static PyObject *seam_get_calls(Seam *self, void *Py_UNUSED(closure))
{
    return Py_NewRef(self->calls != NULL ? (PyObject *)self->calls : Py_None);
}

static int seam_traverse(Seam *self, visitproc visit, void *arg)
{
    Py_VISIT(self->original);
    Py_VISIT(self->slow);
    Py_VISIT(self->calls);
    return 0;
}

static int seam_clear(Seam *self)
{
    Py_CLEAR(self->original);
    Py_CLEAR(self->slow);
    Py_CLEAR(self->calls);
    return 0;
}

static void seam_dealloc(Seam *self)
{
    PyObject_GC_UnTrack(self);
    seam_clear(self);
    Py_TYPE(self)->tp_free((PyObject *)self);
}

static PyMemberDef seam_members[] = {
    {"original", T_OBJECT_EX, offsetof(Seam, original), 0, "the function that stood there"},
    {"slow", T_OBJECT_EX, offsetof(Seam, slow), 0, "slow(self, instance, owner): every other call"},
    {"shared", T_BOOL, offsetof(Seam, shared), 0, "whether what is known under 0 holds for all instances"},
    {NULL},
};

static PyGetSetDef seam_getset[] = {
    {"calls", (getter)seam_get_calls, (setter)seam_set_calls, "what is known of the calls", NULL},
    {NULL},
};

static PyTypeObject SeamType = {
    PyVarObject_HEAD_INIT(NULL, 0).tp_name = "tfperfkit.instruments.steps._quiet.Seam",
    .tp_basicsize = sizeof(Seam),
    .tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE | Py_TPFLAGS_HAVE_GC,
    .tp_new = PyType_GenericNew,
    .tp_dealloc = (destructor)seam_dealloc,
    .tp_traverse = (traverseproc)seam_traverse,
    .tp_clear = (inquiry)seam_clear,
    .tp_members = seam_members,
    .tp_getset = seam_getset,
    .tp_descr_get = (descrgetfunc)seam_get,
};

static struct PyModuleDef module = {
    PyModuleDef_HEAD_INIT,
    .m_name = "_quiet",
    .m_doc = "Markers of known calls, in C.",
    .m_size = -1,
};

PyMODINIT_FUNC PyInit__quiet(void)
{
    name_context = PyUnicode_InternFromString("_context");
    name_local = PyUnicode_InternFromString("_thread_local_data");
    name_eager = PyUnicode_InternFromString("is_eager");
    if (name_context == NULL || name_local == NULL || name_eager == NULL)
        return NULL;
    if (PyType_Ready(&KnownType) < 0 || PyType_Ready(&CallType) < 0)
        return NULL;
    PyObject *made = PyModule_Create(&module);
    if (made == NULL)
        return NULL;
    if (PyModule_AddType(made, &QueueType) < 0 || PyModule_AddType(made, &CallsType) < 0 ||
        PyModule_AddType(made, &SeamType) < 0 || PyModule_AddIntConstant(made, "ABI", 2) < 0) { /* see native.py */
        Py_DECREF(made);
        return NULL;
    }
    return made;
}
