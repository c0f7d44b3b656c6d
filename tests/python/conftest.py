import os

# oneDNN, inside torch, crashes on virtual machines that hide a part of AMX; read when torch is imported.
os.environ.setdefault("ONEDNN_MAX_CPU_ISA", "AVX512_CORE_BF16")
