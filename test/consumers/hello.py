# SPDX-License-Identifier: BSD-3-Clause
"""Makes and joins a unit by ctypes."""
import ctypes

abt = ctypes.CDLL("libabt.so.1")
said = []
hello = ctypes.CFUNCTYPE(None, ctypes.c_void_p)(lambda arg: said.append("hello"))
pool, unit, attributes = ctypes.c_void_p(), ctypes.c_void_p(), ctypes.c_void_p(0x09)  # ABT_THREAD_ATTR_NULL
assert abt.ABT_init(0, None) == 0
assert abt.ABT_self_get_last_pool(ctypes.byref(pool)) == 0
assert abt.ABT_thread_create(pool, hello, None, attributes, ctypes.byref(unit)) == 0
assert abt.ABT_thread_free(ctypes.byref(unit)) == 0
assert abt.ABT_finalize() == 0
assert said == ["hello"]
