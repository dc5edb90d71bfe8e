# CUDA C++ to the C++ of cuda_runtime.h beside this: launches, shared memory, and the one instruction that is written by hand.
s/([A-Za-z_][A-Za-z_0-9]*(<[A-Za-z_0-9, ]*>)?)<<</emulate(\1).on(/g
s/>>>/)/g
s/extern __shared__ ([a-z0-9]+) ([a-z_]+)\[\]/\1 *\2 = (\1 *)emulator::dynamic_shared()/
/^    asm\("mma/,/;$/{
/;$/!d
s/.*/    emulator::multiply_tile(c, a, b0, b1);/
}
