"""Verdicts of PCRE 8 on expressions, without UTF-8 and without case, as the plug-in compiles them.

Each line of the input is an expression and its subjects, in hexadecimal, with spaces between. Each line of the output
is `error OFFSET`, or a digit for each subject: 1 if it matches, 0 if not, ? if PCRE gives up.
"""

import ctypes
import ctypes.util
import sys

# Version 8 has an optimization that 7.9 has not, and that is wrong now and then.
CASELESS, NO_AUTO_POSSESS = 1, 0x20000

name = ctypes.util.find_library("pcre") or "libpcre.so.3"
try:
    pcre = ctypes.CDLL(name)
except OSError:
    print("no PCRE 8")
    sys.exit(3)
pcre.pcre_compile.restype = ctypes.c_void_p
pcre.pcre_version.restype = ctypes.c_char_p
pcre.pcre_exec.argtypes = [
    ctypes.c_void_p, ctypes.c_void_p, ctypes.c_char_p, ctypes.c_int, ctypes.c_int, ctypes.c_int,
    ctypes.POINTER(ctypes.c_int), ctypes.c_int,
]
print(pcre.pcre_version().decode())
for line in sys.stdin:
    expression, *subjects = [bytes.fromhex(word[1:]) for word in line.split()]
    error, offset = ctypes.c_char_p(), ctypes.c_int()
    code = pcre.pcre_compile(expression, CASELESS | NO_AUTO_POSSESS, ctypes.byref(error), ctypes.byref(offset), None)
    if not code:
        print("error", offset.value, error.value.decode())
        continue
    places = (ctypes.c_int * 30)()
    verdict = ""
    for subject in subjects:
        found = pcre.pcre_exec(code, None, subject, len(subject), 0, 0, places, 30)
        verdict += "1" if found >= 0 else "0" if found == -1 else "?"
    print(verdict)
