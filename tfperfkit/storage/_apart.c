/* Files in a table of descriptors that the script's threads don't share. On Linux each thread may have its own table
 * (CLOSE_RANGE_UNSHARE, unshare). One native thread takes one and opens, reads and writes there for whoever asks. A file
 * of ours then takes no number that the script could get, and the script closes none of ours, whatever it closes.
 *
 * The thread runs no Python: a finalizer that Python ran on it would close the script's files in the wrong table. It
 * starts with the first request, also in a forked child, which has none of its parent's files. */

#define _GNU_SOURCE
#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <signal.h>
#include <stdint.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define CLOSE_RANGE 436 /* the same number on every Linux since 5.9 */
#ifndef CLOSE_RANGE_UNSHARE
#define CLOSE_RANGE_UNSHARE 2
#endif
#define LONGEST_WAIT_MS 1000 /* for another's request: the disk may hang */
#define STACK_BYTES (256 * 1024)

typedef struct Request {
    long (*work)(struct Request *); /* -1 with errno set where it fails */
    const char *path;
    int flags, mode, descriptor;
    char *data;
    size_t size;
    off_t offset; /* -1: where the file stands */
    struct stat status;
    long result;
    int error;
} Request;

static pthread_mutex_t turn = PTHREAD_MUTEX_INITIALIZER; /* held while a request is under way */
static sem_t asked, answered;
static Request *request;
static int running, start_error;
static long long generation = 1; /* of processes: handles of a parent mean nothing in its child */
static clockid_t processor_clock;

/* --- on the thread ------------------------------------------------------------------------------------------------ */

static int leave_the_table(void)
{
    if (syscall(CLOSE_RANGE, 0U, ~0U, CLOSE_RANGE_UNSHARE) == 0)
        return 0;
    if (unshare(CLONE_FILES) < 0)
        return -1;
    /* The copies must go: a pipe that the script closes would have no end for its reader. */
    long most = sysconf(_SC_OPEN_MAX);
    if (syscall(CLOSE_RANGE, 0U, ~0U, 0) < 0)
        for (long number = 0; number < (most > 0 && most < 1048576 ? most : 1048576); number++)
            close((int)number);
    return 0;
}

static void *serve(void *Py_UNUSED(none))
{
    start_error = leave_the_table() < 0 ? errno : pthread_getcpuclockid(pthread_self(), &processor_clock);
    int started = start_error == 0;
    sem_post(&answered);
    while (started) {
        while (sem_wait(&asked) < 0)
            ;
        request->result = request->work(request);
        request->error = errno;
        sem_post(&answered);
    }
    return NULL;
}

static long do_open(Request *r)
{
    return open(r->path, r->flags | O_CLOEXEC, r->mode);
}

static long do_close(Request *r)
{
    return close(r->descriptor);
}

static long do_read(Request *r)
{
    return r->offset < 0 ? read(r->descriptor, r->data, r->size) : pread(r->descriptor, r->data, r->size, r->offset);
}

static long do_write(Request *r)
{
    return write(r->descriptor, r->data, r->size);
}

static long do_truncate(Request *r)
{
    return ftruncate(r->descriptor, r->offset);
}

static long do_status(Request *r)
{
    return fstat(r->descriptor, &r->status);
}

static long do_read_file(Request *r)
{
    size_t filled = 0;
    r->descriptor = open(r->path, O_RDONLY | O_CLOEXEC);
    if (r->descriptor < 0)
        return -1;
    while (filled < r->size) {
        ssize_t count = read(r->descriptor, r->data + filled, r->size - filled);
        if (count == 0)
            break;
        if (count < 0) {
            int error = errno;
            close(r->descriptor);
            errno = error;
            return -1;
        }
        filled += (size_t)count;
    }
    close(r->descriptor);
    return (long)filled;
}

static long do_list(Request *r)
{
    return syscall(SYS_getdents64, r->descriptor, r->data, r->size);
}

/* --- on the threads that ask --------------------------------------------------------------------------------------- */

static void in_child(void)
{
    pthread_mutex_init(&turn, NULL); /* another thread of the parent may have held it */
    running = 0;
    generation++;
}

/* 0, or an error number. ``turn`` is held. */
static int start_thread(void)
{
    pthread_attr_t attributes;
    pthread_t thread;
    sigset_t all, before;
    sem_init(&asked, 0, 0);
    sem_init(&answered, 0, 0);
    pthread_attr_init(&attributes);
    pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
    pthread_attr_setstacksize(&attributes, STACK_BYTES);
    sigfillset(&all); /* signals are for the script's threads */
    pthread_sigmask(SIG_SETMASK, &all, &before);
    int error = pthread_create(&thread, &attributes, serve, NULL);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    pthread_attr_destroy(&attributes);
    if (error == 0) {
        while (sem_wait(&answered) < 0)
            ;
        error = start_error;
    }
    running = error == 0;
    return error;
}

static int take_turn(void)
{
    struct timespec pause = {0, 1000000};
    for (int waited = 0; pthread_mutex_trylock(&turn) != 0; waited++) {
        if (waited == LONGEST_WAIT_MS)
            return ETIMEDOUT;
        nanosleep(&pause, NULL);
    }
    return 0;
}

/* Have it done; -1 with OSError set. Without ``work`` only the thread is started. */
static int ask(Request *made)
{
    int error;
    Py_BEGIN_ALLOW_THREADS
    error = take_turn();
    if (error == 0) {
        if (!running)
            error = start_thread();
        if (error == 0 && made->work != NULL) {
            request = made;
            sem_post(&asked);
            while (sem_wait(&answered) < 0)
                ;
            error = made->result < 0 ? made->error : 0;
        }
        pthread_mutex_unlock(&turn);
    }
    Py_END_ALLOW_THREADS
    if (error == 0)
        return 0;
    errno = error;
    made->path != NULL ? PyErr_SetFromErrnoWithFilename(PyExc_OSError, made->path) : PyErr_SetFromErrno(PyExc_OSError);
    return -1;
}

/* Whether it is a handle of this process; else OSError is set. */
static int known(long long handle, Request *made)
{
    made->descriptor = (int)(handle & INT32_MAX);
    if (handle >= 0 && handle >> 32 == generation)
        return 1;
    errno = EBADF;
    PyErr_SetFromErrno(PyExc_OSError);
    return 0;
}

static PyObject *start(PyObject *Py_UNUSED(module), PyObject *Py_UNUSED(none))
{
    Request made = {NULL};
    if (ask(&made) < 0)
        return NULL;
    Py_RETURN_NONE;
}

static PyObject *apart_open(PyObject *Py_UNUSED(module), PyObject *args)
{
    PyObject *path;
    Request made = {do_open, .mode = 0666};
    if (!PyArg_ParseTuple(args, "O&i|i", PyUnicode_FSConverter, &path, &made.flags, &made.mode))
        return NULL;
    made.path = PyBytes_AS_STRING(path);
    int failed = ask(&made);
    Py_DECREF(path);
    return failed ? NULL : PyLong_FromLongLong(generation << 32 | made.result);
}

static PyObject *apart_close(PyObject *Py_UNUSED(module), PyObject *args)
{
    long long handle;
    Request made = {do_close};
    if (!PyArg_ParseTuple(args, "L", &handle) || !known(handle, &made) || ask(&made) < 0)
        return NULL;
    Py_RETURN_NONE;
}

/* What is asked for by ``made``, into bytes of at most ``made->size``. */
static PyObject *into_bytes(Request *made)
{
    PyObject *data = PyBytes_FromStringAndSize(NULL, (Py_ssize_t)made->size);
    if (data == NULL)
        return NULL;
    made->data = PyBytes_AS_STRING(data);
    if (ask(made) < 0)
        Py_CLEAR(data);
    else
        _PyBytes_Resize(&data, made->result);
    return data;
}

static PyObject *apart_read(PyObject *Py_UNUSED(module), PyObject *args)
{
    long long handle;
    Py_ssize_t count;
    long long offset = -1;
    Request made = {do_read};
    if (!PyArg_ParseTuple(args, "Ln|L", &handle, &count, &offset) || !known(handle, &made))
        return NULL;
    made.size = (size_t)(count > 0 ? count : 0);
    made.offset = (off_t)offset;
    return into_bytes(&made);
}

static PyObject *apart_read_file(PyObject *Py_UNUSED(module), PyObject *args)
{
    PyObject *path;
    Py_ssize_t limit;
    Request made = {do_read_file};
    if (!PyArg_ParseTuple(args, "O&n", PyUnicode_FSConverter, &path, &limit))
        return NULL;
    made.path = PyBytes_AS_STRING(path);
    made.size = (size_t)(limit > 0 ? limit : 0);
    PyObject *data = into_bytes(&made);
    Py_DECREF(path);
    return data;
}

static PyObject *apart_write(PyObject *Py_UNUSED(module), PyObject *args)
{
    long long handle;
    Py_buffer data;
    Request made = {do_write};
    if (!PyArg_ParseTuple(args, "Ly*", &handle, &data))
        return NULL;
    made.data = data.buf;
    made.size = (size_t)data.len;
    int failed = !known(handle, &made) || ask(&made) < 0;
    PyBuffer_Release(&data);
    return failed ? NULL : PyLong_FromLong(made.result);
}

static PyObject *apart_truncate(PyObject *Py_UNUSED(module), PyObject *args)
{
    long long handle, size;
    Request made = {do_truncate};
    if (!PyArg_ParseTuple(args, "LL", &handle, &size) || !known(handle, &made))
        return NULL;
    made.offset = (off_t)size;
    if (ask(&made) < 0)
        return NULL;
    Py_RETURN_NONE;
}

static PyObject *apart_size(PyObject *Py_UNUSED(module), PyObject *args)
{
    long long handle;
    Request made = {do_status};
    if (!PyArg_ParseTuple(args, "L", &handle) || !known(handle, &made) || ask(&made) < 0)
        return NULL;
    return PyLong_FromLongLong(made.status.st_size);
}

struct entry { /* as the kernel gives them */
    uint64_t inode;
    int64_t offset;
    unsigned short length;
    unsigned char type;
    char name[];
};

static PyObject *entries(PyObject *Py_UNUSED(module), PyObject *args)
{
    long long handle;
    static const size_t room = 32768;
    Request made = {do_list};
    if (!PyArg_ParseTuple(args, "L", &handle) || !known(handle, &made))
        return NULL;
    made.data = PyMem_Malloc(room);
    made.size = room;
    if (made.data == NULL)
        return PyErr_NoMemory();
    PyObject *names = ask(&made) < 0 ? NULL : PyList_New(0);
    for (long at = 0; names != NULL && at < made.result;) {
        struct entry *entry = (struct entry *)(made.data + at);
        at += entry->length;
        PyObject *name = PyUnicode_DecodeFSDefault(entry->name);
        if (name == NULL || PyList_Append(names, name) < 0)
            Py_CLEAR(names);
        Py_XDECREF(name);
    }
    PyMem_Free(made.data);
    return names;
}

static PyObject *spent_ns(PyObject *Py_UNUSED(module), PyObject *Py_UNUSED(none))
{
    struct timespec spent = {0, 0};
    if (running)
        clock_gettime(processor_clock, &spent);
    return PyLong_FromLongLong((long long)spent.tv_sec * 1000000000 + spent.tv_nsec);
}

static PyMethodDef methods[] = {
    {"start", start, METH_NOARGS, "start(): start the thread; raises OSError where it can't have a table of its own"},
    {"open", apart_open, METH_VARARGS, "open(path, flags, mode=0o666): a handle"},
    {"close", apart_close, METH_VARARGS, "close(handle)"},
    {"read", apart_read, METH_VARARGS, "read(handle, count, offset=-1): bytes; without an offset, from where it stands"},
    {"read_file", apart_read_file, METH_VARARGS, "read_file(path, limit): the first bytes of a file"},
    {"write", apart_write, METH_VARARGS, "write(handle, data): how many bytes were written"},
    {"truncate", apart_truncate, METH_VARARGS, "truncate(handle, size)"},
    {"size", apart_size, METH_VARARGS, "size(handle): of the file, in bytes"},
    {"entries", entries, METH_VARARGS, "entries(handle): the next names of a folder, [] at its end"},
    {"spent_ns", spent_ns, METH_NOARGS, "spent_ns(): the processor time of the thread"},
    {NULL},
};

static struct PyModuleDef module = {
    PyModuleDef_HEAD_INIT,
    .m_name = "_apart",
    .m_doc = "Files in a table of descriptors of our own.",
    .m_size = -1,
    .m_methods = methods,
};

PyMODINIT_FUNC PyInit__apart(void)
{
    PyObject *made = PyModule_Create(&module);
    if (made != NULL && (pthread_atfork(NULL, NULL, in_child) != 0 || PyModule_AddIntConstant(made, "ABI", 2) < 0))
        Py_CLEAR(made); /* see native.py */
    return made;
}
