/* The stack of a thread for the sampler, known again by its code objects and instructions, without an object for each
 * frame: a hundred samples a second each find the caches emptied by TensorFlow. ``look.py`` has the same in Python. */

#include "../frames.h"

typedef struct {
    PyCodeObject *code;
    Py_ssize_t instruction;
} Place;

static Place *places; /* of the stack that is looked at: the interpreter's lock is held all the while */
static Py_ssize_t room;

static PyThreadState *state_of(unsigned long ident)
{
    PyThreadState *thread = PyInterpreterState_ThreadHead(PyInterpreterState_Get());
    while (thread != NULL && thread->thread_id != ident)
        thread = PyThreadState_Next(thread);
    return thread;
}

/* How many frames the thread has, innermost first in ``places``; -1 with MemoryError. */
static Py_ssize_t fill(PyThreadState *thread)
{
    Py_ssize_t count = 0;
    Frame *frame = frame_of(thread);
    while (frame != NULL) {
        if (count == room) {
            Py_ssize_t more = room > 0 ? 2 * room : 64;
            Place *moved = PyMem_Realloc(places, more * sizeof(Place));
            if (moved == NULL) {
                let_go(frame);
                PyErr_NoMemory();
                return -1;
            }
            places = moved;
            room = more;
        }
        places[count].code = code_of(frame);
        places[count].instruction = instruction_of(frame);
        count++;
        frame = caller_of(frame);
    }
    return count;
}

/* (key, [code …], [instruction …]) */
static PyObject *described(PyObject *key, Py_ssize_t count)
{
    PyObject *codes = PyList_New(count), *instructions = PyList_New(count), *made = NULL;
    if (codes == NULL || instructions == NULL)
        goto done;
    for (Py_ssize_t i = 0; i < count; i++) {
        PyObject *instruction = PyLong_FromSsize_t(places[i].instruction);
        if (instruction == NULL)
            goto done;
        PyList_SET_ITEM(codes, i, Py_NewRef((PyObject *)places[i].code));
        PyList_SET_ITEM(instructions, i, instruction);
    }
    made = PyTuple_Pack(3, key, codes, instructions);
done:
    Py_XDECREF(codes);
    Py_XDECREF(instructions);
    return made;
}

static PyObject *look(PyObject *Py_UNUSED(module), PyObject *args)
{
    unsigned long ident;
    PyObject *known;
    if (!PyArg_ParseTuple(args, "kO!", &ident, &PyDict_Type, &known))
        return NULL;
    PyThreadState *thread = state_of(ident);
    Py_ssize_t count = thread != NULL ? fill(thread) : 0;
    if (count < 0)
        return NULL;
    PyObject *key = PyBytes_FromStringAndSize((const char *)places, count * (Py_ssize_t)sizeof(Place));
    if (key == NULL)
        return NULL;
    PyObject *found = Py_XNewRef(PyDict_GetItemWithError(known, key));
    if (found == NULL && !PyErr_Occurred()) {
        int collects = PyGC_Disable(); /* a finalizer could let the thread go on, whose code objects are borrowed */
        found = described(key, count);
        if (collects)
            PyGC_Enable();
    }
    Py_DECREF(key);
    return found;
}

/* What the collector frees may lock the list of threads, which Python holds here while it makes frame objects. */
static PyObject *frames(PyObject *Py_UNUSED(module), PyObject *Py_UNUSED(none))
{
    PyObject *current = PySys_GetObject("_current_frames"); /* borrowed */
    if (current == NULL) {
        PyErr_SetString(PyExc_RuntimeError, "sys._current_frames is not there");
        return NULL;
    }
    int collects = PyGC_Disable();
    PyObject *found = PyObject_CallNoArgs(current);
    if (collects)
        PyGC_Enable();
    return found;
}

static PyMethodDef methods[] = {
    {"frames", frames, METH_NOARGS, "frames(): the innermost frame of each thread, by its number"},
    {"look", look, METH_VARARGS,
     "look(thread, known): what is known of the stack of a thread, by its key; (key, codes, instructions) of a new one"},
    {NULL},
};

static struct PyModuleDef module = {
    PyModuleDef_HEAD_INIT,
    .m_name = "_look",
    .m_doc = "Stacks of threads, in C.",
    .m_size = -1,
    .m_methods = methods,
};

PyMODINIT_FUNC PyInit__look(void)
{
    PyObject *made = PyModule_Create(&module);
    if (made != NULL && PyModule_AddIntConstant(made, "ABI", 2) < 0) /* see native.py */
        Py_CLEAR(made);
    return made;
}
