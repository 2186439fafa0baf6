"""Launch: torchrun's variables are read if they are all there, and cost nothing if they are not."""

from __future__ import annotations

import subprocess
import sys

import pytest

from graphprox.distributed.launch import Launch, find_launch
from graphprox.errors import ParameterError

GIVEN = {"RANK": "1", "WORLD_SIZE": "3", "LOCAL_RANK": "0", "MASTER_ADDR": "localhost", "MASTER_PORT": "29400"}


def test_variables_of_torchrun_are_read():
    given = {**GIVEN, "TORCHELASTIC_RESTART_COUNT": "2", "GRAPHPROX_TIMEOUT": "2.5"}
    assert find_launch(given) == Launch(rank=1, size=3, local_rank=0, restarts=2, timeout=2.5)


@pytest.mark.parametrize("given", [{}, {"RANK": "0"}, {"WORLD_SIZE": "1"}])
def test_process_without_the_variables_is_alone(given):
    assert find_launch(given) is None


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"RANK": "one"}, r"^RANK must be a non-negative integer; got 'one': start the processes with torchrun, or "),
        ({"RANK": "3"}, r"^RANK must be less than WORLD_SIZE; got 3 of 3: start the processes with torchrun$"),
        ({"WORLD_SIZE": "0", "RANK": "0"}, r"^RANK must be less than WORLD_SIZE; got 0 of 0"),
        ({"GRAPHPROX_TIMEOUT": "soon"}, r"^GRAPHPROX_TIMEOUT must be a positive number of seconds; got 'soon'$"),
        ({"GRAPHPROX_TIMEOUT": "nan"}, r"^GRAPHPROX_TIMEOUT must be a positive number of seconds; got 'nan'$"),
        ({"GRAPHPROX_TIMEOUT": "0"}, r"^GRAPHPROX_TIMEOUT must be a positive number of seconds; got '0'$"),
    ],
)
def test_invalid_variables_are_one_sentence(change, message):
    with pytest.raises(ParameterError, match=message):
        find_launch({**GIVEN, **change})


def test_missing_variables_are_named():
    given = {"RANK": "0", "WORLD_SIZE": "2", "LOCAL_RANK": "0"}
    with pytest.raises(ParameterError, match=r"MASTER_ADDR and MASTER_PORT are not: start the processes with torchrun"):
        find_launch(given)


def test_launch_imports_neither_torch_nor_numpy():
    check = "import sys, graphprox.distributed.launch; sys.exit('torch' in sys.modules or 'numpy' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", check], check=False).returncode == 0
