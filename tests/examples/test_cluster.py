"""The files of examples/cluster start graphprox as the program and its schedulers understand it."""

from __future__ import annotations

import ast
import os
import re
import shlex
import socket
import subprocess
import sys
from pathlib import Path

import pytest
import typer
import yaml
from torch.distributed.run import get_args_parser

from distributed.torchrun import TIMEOUT, environment
from graphprox.cli.app import app

ROOT = Path(__file__).resolve().parents[2]
FOLDER = ROOT / "examples" / "cluster"
SLURM, KUBERNETES, RAY = FOLDER / "slurm.sbatch", FOLDER / "kubernetes.yaml", FOLDER / "ray_train.py"
NODES = 64


def slurm_words() -> list[str]:
    """Return the words of the command that srun starts."""
    text = SLURM.read_text().replace("\\\n", " ")
    return shlex.split(re.search(r"^srun (.*)$", text, flags=re.MULTILINE)[1])


def kubernetes_objects() -> dict[str, dict]:
    return {each["kind"]: each for each in yaml.safe_load_all(KUBERNETES.read_text())}


def kubernetes_container() -> dict:
    (container,) = kubernetes_objects()["Job"]["spec"]["template"]["spec"]["containers"]
    return container


def kubernetes_words() -> list[str]:
    container = kubernetes_container()
    return [*container["command"], *container["args"]]


def ray_words() -> list[str]:
    """Return the words of the command in the docstring."""
    docstring = ast.get_docstring(ast.parse(RAY.read_text()))
    return shlex.split(re.search(r"^ {4}(python .*?)\n\n", docstring, flags=re.MULTILINE | re.DOTALL)[1])


def graphprox_arguments(words: list[str]) -> list[str]:
    return words[words.index("embed") :]


@pytest.mark.parametrize("words", [slurm_words(), kubernetes_words(), ray_words()], ids=["slurm", "kubernetes", "ray"])
def test_program_accepts_the_command(words):
    command, *arguments = graphprox_arguments(words)
    parsed = typer.main.get_command(app).commands[command].make_context(command, list(arguments))
    assert parsed.params["preset"] == "large"
    assert parsed.params["method"] == "ft-gcl"
    assert parsed.params["resume"] is True
    assert Path(parsed.params["out"]).suffix == ""  # a part for each process


@pytest.mark.parametrize("words", [slurm_words(), kubernetes_words()], ids=["slurm", "kubernetes"])
def test_torchrun_accepts_the_command(words):
    assert words[0] == "torchrun"
    parsed = get_args_parser().parse_args([word.replace("$SLURM_JOB_NUM_NODES", str(NODES)) for word in words[1:]])
    assert (parsed.nnodes, parsed.nproc_per_node, parsed.rdzv_backend) == (str(NODES), "1", "c10d")
    assert parsed.max_restarts > 0
    assert parsed.module is True
    assert parsed.training_script == "graphprox"


# -- SLURM ----------------------------------------------------------------------------------------------------------


def make_program(folder: Path, name: str, text: str) -> None:
    path = folder / name
    path.write_text(f"#!/bin/bash\n{text}\n")
    path.chmod(0o755)


def test_sbatch_file_is_a_script_with_one_task_on_each_node():
    subprocess.run(["bash", "-n", SLURM], check=True)
    options = dict(re.findall(r"^#SBATCH --([a-z-]+)=(\S+)$", SLURM.read_text(), flags=re.MULTILINE))
    assert (options["nodes"], options["ntasks-per-node"]) == (str(NODES), "1")


def test_sbatch_file_runs_on_one_node(tmp_path):
    """With programs in place of SLURM's: scontrol prints the node, srun starts the command once."""
    programs = tmp_path / "programs"
    programs.mkdir()
    make_program(programs, "scontrol", '[ "$*" = "show hostnames node[1]" ] && echo localhost')
    make_program(programs, "srun", 'exec "$@" --epochs 1 --dim 8 --no-cache')
    make_program(programs, "torchrun", f'exec {shlex.quote(sys.executable)} -m torch.distributed.run "$@"')
    variables = environment(
        PATH=f"{programs}{os.pathsep}{os.environ['PATH']}",
        SLURM_JOB_ID="1",
        SLURM_JOB_NODELIST="node[1]",
        SLURM_JOB_NUM_NODES="1",
        SLURM_CPUS_PER_TASK="1",
    )
    done = subprocess.run(
        ["bash", SLURM, "synthetic", "out"], cwd=tmp_path, env=variables, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert [path.name for path in (tmp_path / "out" / "vectors").glob("*.parquet")] == ["part-00000.parquet"]
    assert (tmp_path / "out" / "model").is_dir()


def test_sbatch_file_says_what_is_missing(tmp_path):
    done = subprocess.run(["bash", SLURM], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode != 0
    assert "usage: sbatch slurm.sbatch GRAPH OUT" in done.stderr


# -- Kubernetes -----------------------------------------------------------------------------------------------------


def test_every_pod_of_the_job_has_the_name_by_which_others_find_it():
    objects = kubernetes_objects()
    assert set(objects) == {"Service", "Job"}
    service, job = objects["Service"], objects["Job"]
    pod = job["spec"]["template"]
    assert (service["apiVersion"], job["apiVersion"]) == ("v1", "batch/v1")
    # A pod of an indexed job is named JOB-INDEX.SUBDOMAIN, if a headless service of that name selects it.
    assert job["spec"]["completionMode"] == "Indexed"
    assert service["spec"]["clusterIP"] == "None"
    assert service["spec"]["publishNotReadyAddresses"] is True
    assert service["metadata"]["name"] == pod["spec"]["subdomain"]
    assert service["spec"]["selector"].items() <= pod["metadata"]["labels"].items()
    endpoint = next(word for word in kubernetes_words() if word.startswith("--rdzv-endpoint="))
    host, port = endpoint.partition("=")[2].split(":")
    assert host == f"{job['metadata']['name']}-0.{service['metadata']['name']}"
    assert int(port) == service["spec"]["ports"][0]["port"]


def test_all_pods_of_the_job_run_at_the_same_time():
    spec = kubernetes_objects()["Job"]["spec"]
    assert spec["completions"] == spec["parallelism"] == NODES
    assert f"--nnodes={NODES}" in kubernetes_words()
    assert spec["template"]["spec"]["restartPolicy"] == "OnFailure"


def test_pods_have_a_shared_volume_for_all_paths_of_the_command():
    (volume,) = kubernetes_objects()["Job"]["spec"]["template"]["spec"]["volumes"]
    (mount,) = kubernetes_container()["volumeMounts"]
    assert mount["name"] == volume["name"]
    paths = [word.rpartition("=")[2] for word in kubernetes_words() if "/" in word]
    assert paths
    assert all(path.startswith(mount["mountPath"] + "/") for path in paths)


# -- Ray Train ------------------------------------------------------------------------------------------------------

WORKER = """
import runpy, sys
import torch.distributed as dist
dist.init_process_group("gloo")  # as Ray does before it calls the function
names = runpy.run_path(sys.argv[1])
names["run_graphprox"]({"arguments": sys.argv[2:]})
"""


def test_function_of_ray_runs_graphprox_by_the_variables_that_ray_sets(tmp_path):
    with socket.socket() as free:
        free.bind(("localhost", 0))
        port = str(free.getsockname()[1])
    arguments = ["embed", "synthetic", "--method=ft-gcl", "--set=encoder=sage", "--epochs=1", "--dim=8", "--no-cache"]
    common = {"MASTER_ADDR": "localhost", "MASTER_PORT": port, "WORLD_SIZE": "2", "GRAPHPROX_TIMEOUT": "120"}
    workers = [
        subprocess.Popen(
            [sys.executable, "-c", WORKER, RAY, *arguments, "--out=vectors"],
            cwd=tmp_path,
            env=environment(**common, RANK=str(rank), LOCAL_RANK=str(rank)),
        )
        for rank in range(2)
    ]
    assert [worker.wait(timeout=TIMEOUT) for worker in workers] == [0, 0]
    assert len(list((tmp_path / "vectors").glob("*.parquet"))) == 2


def test_command_of_ray_names_the_script_and_its_options():
    words = ray_words()
    assert words[:2] == ["python", RAY.name]
    assert words[2 : words.index("embed")] == ["--workers", str(NODES), "--cpus", "32"]
