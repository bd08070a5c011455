# MP_ISA(NAME, FLAGS): can the compiler build for this instruction set?
# Sets HAVE_<NAME> (config.h and Automake), <NAME>_CFLAGS and mp_isa_<NAME> (yes or no). Whether the
# processor can run it is asked at run time, by src/base/cpu.c.
AC_DEFUN([MP_ISA], [
    AC_MSG_CHECKING([whether the compiler knows $1])
    mp_saved_cflags=$CFLAGS
    CFLAGS="$CFLAGS $2"
    AC_COMPILE_IFELSE([AC_LANG_PROGRAM([[#include <immintrin.h>]], [])],
        [mp_isa_$1=yes
         AC_DEFINE([HAVE_$1], [1], [The compiler can build $1 code])
         AC_SUBST([$1_CFLAGS], ["$2"])],
        [mp_isa_$1=no])
    CFLAGS=$mp_saved_cflags
    AC_MSG_RESULT([$mp_isa_$1])
    AM_CONDITIONAL([HAVE_$1], [test "x$mp_isa_$1" = xyes])
])
