"""The APL kernel for Jupyter; `apl_kernel.__main__` runs its program."""
