# lit configuration of tcc's tests: where they are, which tools they call, which features are on.

import ctypes
import os
import shutil

import lit.formats
from lit.llvm import llvm_config
from lit.llvm.subst import ToolSubst

config.name = "tcc"
config.test_format = lit.formats.ShTest(not llvm_config.use_lit_shell)
config.suffixes = [".mlir", ".ptx", ".test"]
# vectors/ is data that tcc-ptx-vectors reads, Inputs/ what other tests include.
config.excludes = ["Inputs", "vectors", "CMakeLists.txt", "lit.cfg.py", "lit.site.cfg.py.in"]
config.test_source_root = os.path.dirname(__file__)
config.test_exec_root = os.path.join(config.tcc_obj_root, "test")

llvm_config.use_default_substitutions()
llvm_config.with_environment("PATH", config.llvm_tools_dir, append_path=True)
config.substitutions.append(("%tcc_src_root", config.tcc_src_root))
config.substitutions.append(("%tcc_tools_dir", config.tcc_tools_dir))


def first_gpu():
    """The compute capability of the first CUDA device as (major, minor), or None."""
    try:
        cuda = ctypes.CDLL("libcuda.so.1")
    except OSError:
        return None
    device, major, minor = ctypes.c_int(), ctypes.c_int(), ctypes.c_int()
    compute_capability_major, compute_capability_minor = 75, 76  # CUdevice_attribute
    if cuda.cuInit(0) or cuda.cuDeviceGet(ctypes.byref(device), 0):
        return None
    if cuda.cuDeviceGetAttribute(ctypes.byref(major), compute_capability_major, device):
        return None
    if cuda.cuDeviceGetAttribute(ctypes.byref(minor), compute_capability_minor, device):
        return None
    return major.value, minor.value


def cuda_tool(name):
    return shutil.which(name) or shutil.which(name, path="/usr/local/cuda/bin")


def feature(name, on, why_off):
    """Turns a feature on, or tells why its tests will be skipped."""
    if on:
        config.available_features.add(name)
    else:
        lit_config.note(f"feature '{name}' is off ({why_off}): tests that require it are skipped")


ptxas, nvcc, gpu = cuda_tool("ptxas"), cuda_tool("nvcc"), first_gpu()
feature("compiler", config.enable_compiler, "configured with TCC_ENABLE_COMPILER=OFF")
feature("ptxas", ptxas, "no ptxas in PATH or /usr/local/cuda/bin")
feature("nvcc", nvcc, "no nvcc in PATH or /usr/local/cuda/bin")
feature("gpu", gpu, "no CUDA driver with a device")
if gpu:
    config.available_features.add(f"gpu-sm_{gpu[0]}{gpu[1]}")
for tool, path in (("ptxas", ptxas), ("nvcc", nvcc)):
    if path:
        config.substitutions.append((rf"\b{tool}\b", path))
# Behind the substitution of ptxas, which would find it in here.
config.substitutions.append(("%assembler", f"--assembler={ptxas}" if ptxas else ""))

tools = ["tcc-run", "tcc-ptx-vectors"]
if config.enable_compiler:
    tools += ["tcc-opt", "tcc-translate", "tcc-lsp-server"]
llvm_config.add_tool_substitutions(
    [ToolSubst(tool, unresolved="ignore") for tool in tools] + ["split-file"],
    [config.tcc_tools_dir, config.llvm_tools_dir],
)
