#include <Python.h>

extern const char* torch_fl_built_for(void);

static PyObject* built_for(PyObject* self, PyObject* arguments) { return PyUnicode_FromString(torch_fl_built_for()); }
static PyMethodDef methods[] = {{"built_for", built_for, METH_NOARGS, NULL}, {NULL, NULL, 0, NULL}};
static struct PyModuleDef module = {PyModuleDef_HEAD_INIT, "_C", NULL, -1, methods};
PyMODINIT_FUNC PyInit__C(void) { return PyModule_Create(&module); }
