/* Frames of Python's stacks, as far as code objects and instructions go, for C code that holds the interpreter's lock.
 *
 * A frame object that is asked for is made, tracked and freed again as its function returns: of six frames that is half
 * a microsecond with warm caches, more than all the rest of a marker. Python 3.11 has the frames themselves in a header
 * of its own; elsewhere the public functions are taken. */

#ifndef TFPERFKIT_FRAMES_H
#define TFPERFKIT_FRAMES_H

#define PY_SSIZE_T_CLEAN
#include <Python.h>
#if PY_VERSION_HEX < 0x030B0000
#include <frameobject.h>
#elif PY_VERSION_HEX < 0x030C0000 && defined(__has_include)
#if __has_include(<internal/pycore_frame.h>)
#define Py_BUILD_CORE 1 /* for this header alone */
#include <internal/pycore_frame.h>
#undef Py_BUILD_CORE
#define BARE_FRAMES 1
#endif
#endif

#ifdef BARE_FRAMES

typedef _PyInterpreterFrame Frame; /* borrowed: its thread can't go on while the lock is held */

static inline Frame *complete(Frame *frame)
{
    while (frame != NULL && _PyFrame_IsIncomplete(frame))
        frame = frame->previous;
    return frame;
}

/* The innermost one of a thread; NULL for none. */
static inline Frame *frame_of(PyThreadState *thread)
{
    return thread->cframe != NULL ? complete(thread->cframe->current_frame) : NULL;
}

/* Gives up the frame for the one that called it. */
static inline Frame *caller_of(Frame *frame)
{
    return complete(frame->previous);
}

static inline PyCodeObject *code_of(Frame *frame)
{
    return frame->f_code;
}

static inline int instruction_of(Frame *frame)
{
    int index = _PyInterpreterFrame_LASTI(frame);
    return index < 0 ? -1 : index * (int)sizeof(_Py_CODEUNIT);
}

static inline Frame *hold(Frame *frame)
{
    return frame;
}

static inline void let_go(Frame *frame)
{
    (void)frame;
}

#else

typedef PyFrameObject Frame;

static inline Frame *frame_of(PyThreadState *thread)
{
    return PyThreadState_GetFrame(thread);
}

static inline Frame *caller_of(Frame *frame)
{
    Frame *back = PyFrame_GetBack(frame);
    Py_DECREF(frame);
    return back;
}

static inline PyCodeObject *code_of(Frame *frame)
{
    PyCodeObject *code = PyFrame_GetCode(frame);
    Py_DECREF(code); /* the frame holds it */
    return code;
}

static inline int instruction_of(Frame *frame)
{
#if PY_VERSION_HEX < 0x030B0000
    return frame->f_lasti < 0 ? -1 : frame->f_lasti * 2;
#else
    return PyFrame_GetLasti(frame);
#endif
}

static inline Frame *hold(Frame *frame)
{
    return (Frame *)Py_NewRef((PyObject *)frame);
}

static inline void let_go(Frame *frame)
{
    Py_XDECREF(frame);
}

#endif
#endif
