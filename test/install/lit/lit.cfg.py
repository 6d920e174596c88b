import os

import lit.formats

config.name = "my compiler tests"
config.test_format = lit.formats.ShTest(execute_external=False)
config.suffixes = [".mlir"]
config.environment["PATH"] = os.pathsep.join([os.environ["DLC_PREFIX"] + "/bin", os.environ["LLVM_TOOLS"]])
