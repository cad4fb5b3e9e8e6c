/* Markers in the order in which they were made, until somebody asks for them: those of C code as three numbers, for an
 * object and its two integers are fetched into empty caches, which was most of what a marker cost.
 *
 * ``append`` and ``popleft`` are as a deque's; ``push`` is for C code. Everything here holds the interpreter's lock. */

#include <Python.h>

typedef struct {
    PyObject *item; /* a marker; or its site, where ``begin`` is not negative */
    long long begin, end;
} Entry;

typedef struct {
    PyObject_HEAD
    PyObject *marker; /* the class: marker(site, begin, end) */
    Entry *entries;
    Py_ssize_t first, count, room;
} Queue;

#define QUEUE_KEPT 4096 /* of more the memory is given back once it is empty */

/* 0; -1 with MemoryError: nothing was added. */
static int queue_push(Queue *self, PyObject *item, long long begin, long long end)
{
    if (self->count == self->room) {
        Py_ssize_t room = self->room > 0 ? 2 * self->room : 64;
        Entry *entries = PyMem_Malloc(room * sizeof(Entry));
        if (entries == NULL) {
            PyErr_NoMemory();
            return -1;
        }
        for (Py_ssize_t i = 0; i < self->count; i++)
            entries[i] = self->entries[(self->first + i) % self->room];
        PyMem_Free(self->entries);
        self->entries = entries;
        self->first = 0;
        self->room = room;
    }
    Py_ssize_t at = self->first + self->count;
    Entry *entry = &self->entries[at < self->room ? at : at - self->room];
    entry->item = Py_NewRef(item);
    entry->begin = begin;
    entry->end = end;
    self->count++;
    return 0;
}

static PyObject *queue_append(Queue *self, PyObject *item)
{
    if (queue_push(self, item, -1, 0) < 0)
        return NULL;
    Py_RETURN_NONE;
}

static PyObject *queue_popleft(Queue *self, PyObject *Py_UNUSED(none))
{
    if (self->count == 0) {
        PyErr_SetString(PyExc_IndexError, "pop from an empty queue");
        return NULL;
    }
    Entry entry = self->entries[self->first];
    self->first = self->first + 1 < self->room ? self->first + 1 : 0;
    if (--self->count == 0) {
        self->first = 0; /* the same memory again */
        if (self->room > QUEUE_KEPT) {
            PyMem_Free(self->entries);
            self->entries = NULL;
            self->room = 0;
        }
    }
    if (entry.begin < 0)
        return entry.item;
    PyObject *begin = PyLong_FromLongLong(entry.begin), *end = PyLong_FromLongLong(entry.end), *made = NULL;
    if (begin != NULL && end != NULL) {
        PyObject *values[] = {entry.item, begin, end};
        made = PyObject_Vectorcall(self->marker, values, 3, NULL);
    }
    Py_XDECREF(begin);
    Py_XDECREF(end);
    Py_DECREF(entry.item);
    return made;
}

static Py_ssize_t queue_length(Queue *self)
{
    return self->count;
}

static PyObject *queue_new(PyTypeObject *type, PyObject *args, PyObject *kwargs)
{
    PyObject *marker;
    if (!PyArg_ParseTuple(args, "O", &marker))
        return NULL;
    Queue *self = (Queue *)type->tp_alloc(type, 0);
    if (self != NULL)
        self->marker = Py_NewRef(marker);
    return (PyObject *)self;
}

static void queue_dealloc(Queue *self)
{
    for (Py_ssize_t i = 0; i < self->count; i++)
        Py_DECREF(self->entries[(self->first + i) % self->room].item);
    PyMem_Free(self->entries);
    Py_XDECREF(self->marker);
    Py_TYPE(self)->tp_free((PyObject *)self);
}

static PyMethodDef queue_methods[] = {
    {"append", (PyCFunction)queue_append, METH_O, "append(marker): at the end"},
    {"popleft", (PyCFunction)queue_popleft, METH_NOARGS, "the first one, which is taken out; IndexError: none is there"},
    {NULL},
};

static PySequenceMethods queue_sequence = {.sq_length = (lenfunc)queue_length};

static PyTypeObject QueueType = {
    PyVarObject_HEAD_INIT(NULL, 0).tp_name = "tfperfkit.instruments.steps._quiet.Queue",
    .tp_basicsize = sizeof(Queue),
    .tp_flags = Py_TPFLAGS_DEFAULT,
    .tp_new = queue_new,
    .tp_dealloc = (destructor)queue_dealloc,
    .tp_as_sequence = &queue_sequence,
    .tp_methods = queue_methods,
};
