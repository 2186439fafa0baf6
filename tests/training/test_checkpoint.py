"""A training that goes on from a checkpoint ends in the same bytes as one that was never stopped."""

from __future__ import annotations

import errno
import hashlib
import json
import os
import resource
import subprocess
import sys
import warnings
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pytest
import torch

from graphprox import Graph, ParameterError, ReadError, WriteError
from graphprox.checksum import graph_checksum
from graphprox.errors import DamagedCheckpointWarning
from graphprox.training.checkpoint import Checkpoint, Checkpoints, described, sealed, verified
from graphprox.training.trainer import train


class StopError(Exception):
    """What stops a training that a test wants to go on with."""


@pytest.fixture
def stopped(outcome, tmp_path):
    """Train in ``tmp_path`` until a step, with a checkpoint after each three; checkpoints of steps 3 and 6 stay."""

    def stopped(recipe, *, step=8, every=3):
        def stop(taken):
            if taken.step == step:
                raise StopError

        with pytest.raises(StopError):
            outcome(recipe, checkpoints=tmp_path, every=every, on_step=stop)
        return tmp_path

    return stopped


def names(folder):
    return sorted(path.name for path in folder.iterdir())


def files(*steps):
    return sorted(f"step-{step:08d}.{ending}" for step in steps for ending in ("json", "safetensors"))


# -- going on -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("step", [4, 5, 6, 9])
def test_a_training_that_goes_on_ends_as_one_that_never_stopped(outcome, undisturbed, recipe, stopped, step):
    folder = stopped(recipe, step=step)
    taken = []
    resumed = outcome(recipe, checkpoints=folder, resume=True, on_step=lambda each: taken.append(each.step))
    assert taken == list(range((step - 1) // 3 * 3 + 1, 11))
    assert resumed == undisturbed(recipe)


def test_stopping_again_and_again_changes_nothing(outcome, undisturbed, recipe, tmp_path):
    for step in range(2, 11):

        def stop(taken, step=step):
            if taken.step == step:
                raise StopError

        with pytest.raises(StopError):
            outcome(recipe, checkpoints=tmp_path, every=1, resume=True, on_step=stop)
    assert outcome(recipe, checkpoints=tmp_path, resume=True) == undisturbed(recipe)


def test_more_steps_of_a_training_that_is_done_are_those_of_a_longer_one(outcome, undisturbed, recipe, tmp_path):
    longer = recipe.merged({"steps": 14})
    assert outcome(recipe, checkpoints=tmp_path) == undisturbed(recipe)
    assert outcome(longer, checkpoints=tmp_path, resume=True) == undisturbed(longer)
    assert names(tmp_path) == files(10, 14)


def test_a_training_that_is_done_is_not_trained_again(outcome, undisturbed, small, tmp_path):
    outcome(small, checkpoints=tmp_path)
    taken = []
    assert outcome(small, checkpoints=tmp_path, resume=True, on_step=taken.append) == undisturbed(small)
    assert taken == []


def test_checkpoints_change_no_training(outcome, undisturbed, recipe, tmp_path):
    assert outcome(recipe, checkpoints=tmp_path, every=1) == undisturbed(recipe)


def test_the_last_two_are_kept_and_the_end_is_one_of_them(outcome, small, tmp_path):
    outcome(small, checkpoints=tmp_path, every=3)
    assert names(tmp_path) == files(9, 10)


def test_without_resume_a_training_begins_anew(outcome, undisturbed, small, stopped):
    folder = stopped(small)
    taken = []
    assert outcome(small, checkpoints=folder, on_step=lambda each: taken.append(each.step)) == undisturbed(small)
    assert taken == list(range(1, 11))
    assert names(folder) == files(10)


def test_where_there_is_no_checkpoint_resume_begins_anew(outcome, undisturbed, small, tmp_path):
    assert outcome(small, checkpoints=tmp_path / "new", resume=True) == undisturbed(small)


def test_labels_may_change_in_between(graph, rankings, small, undisturbed, stopped):
    folder = stopped(small)
    relabelled = graph.with_labels(np.zeros(graph.num_nodes, int))
    _, losses = train(relabelled, rankings, small, checkpoints=folder, resume=True)
    assert tuple(losses) == undisturbed(small).losses


def test_no_step_is_a_training_too(outcome, small, tmp_path):
    none = small.merged({"steps": 0})
    assert outcome(none, checkpoints=tmp_path, resume=True) == outcome(none)
    assert names(tmp_path) == []


# -- damage ---------------------------------------------------------------------------------------------------------


def flipped(path):
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 1
    path.write_bytes(content)


def changed(path, **fields):
    path.write_text(json.dumps(json.loads(path.read_text()) | fields))


DAMAGES = {
    "truncated tensors": ("safetensors", lambda path: path.write_bytes(path.read_bytes()[:-40])),
    "empty tensors": ("safetensors", lambda path: path.write_bytes(b"")),
    "flipped bit in the tensors": ("safetensors", flipped),
    "missing tensors": ("safetensors", Path.unlink),
    "truncated description": ("json", lambda path: path.write_bytes(path.read_bytes()[:-40])),
    "empty description": ("json", lambda path: path.write_bytes(b"")),
    "flipped bit in the recipe": ("json", flipped),
    "another graph's checksum": ("json", lambda path: changed(path, graph="0" * 64)),
    "another step": ("json", lambda path: changed(path, step=7)),
    "another format": ("json", lambda path: changed(path, format=2)),
    "no format": ("json", lambda path: path.write_text("{}")),
    "a list": ("json", lambda path: path.write_text("[1, 2]")),
    "no text": ("json", lambda path: path.write_bytes(b"\xff\xfe\x00")),
}


@pytest.fixture(params=DAMAGES.values(), ids=DAMAGES)
def damage(request):
    """Damage the checkpoint of a step; tells the name of the damaged file."""
    ending, do = request.param

    def damage(folder, step):
        path = folder / f"step-{step:08d}.{ending}"
        do(path)
        return path.name

    return damage


def resumed_with_warnings(outcome, *arguments, **options):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        result = outcome(*arguments, **options, resume=True)
    assert {each.category for each in caught} <= {DamagedCheckpointWarning}
    return result, [str(each.message) for each in caught]


def test_a_damaged_checkpoint_is_named_and_the_one_before_is_used(outcome, undisturbed, small, stopped, damage):
    folder = stopped(small)
    name = damage(folder, 6)
    taken = []
    result, (said,) = resumed_with_warnings(
        outcome, small, checkpoints=folder, every=3, on_step=lambda step: taken.append(step.step)
    )
    assert said.startswith(f"{folder / name} is damaged: ")
    assert said.endswith(": an older checkpoint is looked for")
    assert taken == list(range(4, 11))
    assert result == undisturbed(small)


def test_where_all_are_damaged_a_training_begins_anew(outcome, undisturbed, small, stopped, damage):
    folder = stopped(small)
    damaged = [damage(folder, step) for step in (6, 3)]
    taken = []
    result, said = resumed_with_warnings(
        outcome, small, checkpoints=folder, on_step=lambda step: taken.append(step.step)
    )
    assert [str(folder / name) in each for name, each in zip(damaged, said, strict=True)] == [True, True]
    assert taken == list(range(1, 11))
    assert result == undisturbed(small)


def test_a_damaged_checkpoint_never_takes_the_place_of_a_new_one(outcome, undisturbed, small, stopped):
    folder = stopped(small)
    for path in folder.glob("*.safetensors"):
        flipped(path)

    def stop(taken):
        if taken.step == 2:
            raise StopError

    with pytest.raises(StopError), pytest.warns(DamagedCheckpointWarning):
        outcome(small, checkpoints=folder, resume=True, every=1, on_step=stop)
    assert names(folder) == files(1)
    result, said = resumed_with_warnings(outcome, small, checkpoints=folder)
    assert (result, said) == (undisturbed(small), [])


def test_what_a_killed_process_left_is_removed(outcome, undisturbed, small, stopped):
    folder = stopped(small)
    left = [".step-00000008.safetensors.a1b2.part", ".step-00000008.json.a1b2.part", "step-00000008.safetensors"]
    for name in left:
        (folder / name).write_bytes(b"half")
    result, said = resumed_with_warnings(outcome, small.merged({"steps": 6}), checkpoints=folder)
    assert said == []
    assert names(folder) == files(3, 6)
    assert result == undisturbed(small.merged({"steps": 6}))


def test_tensors_that_have_their_checksum_and_are_none_are_damaged(tmp_path):
    path = tmp_path / "weights.safetensors"
    path.write_bytes(b"no tensors at all")
    with pytest.raises(ReadError, match=r"weights.safetensors is damaged: .*header"):
        verified(path, hashlib.sha256(path.read_bytes()).hexdigest())


def test_a_description_cannot_change_unseen(tmp_path):
    path = tmp_path / "about.json"
    about = {"format": 1, "name": "ä", "size": 3, "nested": {"b": 1, "a": [1.5, None]}}
    path.write_text(sealed(about))
    assert described(path, 1) == about
    whole = path.read_bytes()
    for place in range(len(whole)):
        path.write_bytes(whole[:place] + bytes([whole[place] ^ 1]) + whole[place + 1 :])
        with pytest.raises(ReadError, match=r"about.json is damaged: "):
            described(path, 1)


# -- what a checkpoint belongs to -----------------------------------------------------------------------------------


def test_another_graph_is_refused(graph, rankings, small, stopped):
    folder = stopped(small)
    x = graph.x.copy()
    x[0, 0] += 1
    with pytest.raises(ParameterError, match=r"step-00000006.safetensors is of another graph: give the same one, or"):
        train(graph.with_features(x), rankings, small, checkpoints=folder, resume=True)
    assert names(folder) == files(3, 6)


@pytest.mark.parametrize(
    ("changes", "differing"),
    [
        ({"seed": 1}, "seed"),
        ({"steps": 20, "optimizer": {"learning_rate": 0.1}}, "optimizer.learning_rate"),
        ({"encoder": {"width": 16}, "views": {"k_feature": [1, 2]}}, "encoder.width, views.k_feature"),
        ({"normalize": "none"}, "normalize"),
    ],
)
def test_another_recipe_is_refused(outcome, small, stopped, changes, differing):
    folder = stopped(small)
    with pytest.raises(ParameterError) as refused:
        outcome(small.merged(changes), checkpoints=folder, resume=True)
    said = str(refused.value)
    named = said.partition("differs in ")[2].partition(":")[0]
    assert sorted(named.split(", ")) == sorted(differing.split(", "))
    assert said.endswith(": give the same settings, or leave out --resume to begin anew")
    assert names(folder) == files(3, 6)


def test_fewer_steps_than_were_taken_are_refused(outcome, small, stopped):
    folder = stopped(small)
    with pytest.raises(ParameterError, match=r"steps must be 6 or more to go on .*; got 5: leave out --resume"):
        outcome(small.merged({"steps": 5}), checkpoints=folder, resume=True)
    assert outcome(small.merged({"steps": 6}), checkpoints=folder, resume=True).losses


def test_resume_needs_a_folder(outcome, small):
    with pytest.raises(ParameterError, match="resume needs a folder"):
        outcome(small, resume=True)


@pytest.mark.parametrize("every", [0, -3])
def test_checkpoints_come_after_a_step_or_more(outcome, small, tmp_path, every):
    with pytest.raises(ParameterError, match=f"checkpoint_every must be a whole number of 1 or more; got {every}"):
        outcome(small, checkpoints=tmp_path, every=every)


# -- no room, no right ----------------------------------------------------------------------------------------------


@contextmanager
def room_for(size):
    """No file can become larger, as on a disk that is full."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


@pytest.mark.parametrize("size", [0, 100, 5_000])
def test_a_full_disk_leaves_the_older_checkpoints(outcome, undisturbed, small, stopped, size):
    folder = stopped(small)
    assert all(path.stat().st_size > size for path in folder.glob("*.safetensors"))
    with pytest.raises(WriteError, match=os.strerror(errno.EFBIG)) as refused, room_for(size):
        outcome(small, checkpoints=folder, resume=True, every=1)
    assert "step-00000007.safetensors cannot be written" in str(refused.value)
    assert names(folder) == files(3, 6)
    assert outcome(small, checkpoints=folder, resume=True) == undisturbed(small)


def test_a_folder_that_cannot_be_made_is_known_before_the_first_step(outcome, small, tmp_path):
    (tmp_path / "file").write_text("in the way")
    taken = []
    with pytest.raises(WriteError, match="file/checkpoints must be a folder that can be written to: Not a directory"):
        outcome(small, checkpoints=tmp_path / "file" / "checkpoints", on_step=taken.append)
    assert taken == []


# Another user may not reach the interpreter's modules, so the program becomes that user once it has all it needs.
AS_NOBODY = """
import os, sys
from pathlib import Path
import graphprox
from graphprox.training.fitting import fit
from graphprox.training.recipe import Recipe
graph = graphprox.synthetic(nodes=140)
recipe = Recipe(steps=2, turns=[["graph", "feature"]], encoder={"width": 4}, head={"width": 4})
fit(graph, recipe, cache=False)
if os.geteuid() == 0:
    os.setgroups([])
    os.setgid(65534)
    os.setuid(65534)
for resume in (False, True):
    for folder in ("closed", "model"):
        try:
            fit(graph, recipe, cache=False, folder=Path(folder), resume=resume)
        except graphprox.WriteError as error:
            print(error)
"""


def test_a_folder_that_is_not_writable_is_named():
    with TemporaryDirectory() as place:
        closed = [Path(place, name) for name in ("closed", "model/checkpoints")]
        for folder in closed:
            folder.mkdir(parents=True)
            (folder / "step-00000001.json").write_text("{}")
            folder.chmod(0o555)
        Path(place).chmod(0o755)
        Path(place, "model").chmod(0o777)
        program = [sys.executable, "-c", AS_NOBODY]
        child = subprocess.run(program, capture_output=True, text=True, cwd=place, timeout=100)
        assert [names(folder) for folder in closed] == [["step-00000001.json"]] * 2
        for folder in closed:
            folder.chmod(0o755)
    rule = "must be a folder that can be written to: Permission denied"
    assert child.stdout.splitlines() == [f"closed {rule}", f"model/checkpoints {rule}"] * 2, child.stderr


def test_a_checkpoint_that_cannot_be_removed_is_a_write_error(small, graph, tmp_path):
    kept = Checkpoints(tmp_path, small, graph_checksum(graph))
    (tmp_path / "step-00000001.safetensors").mkdir()
    with pytest.raises(WriteError, match=r"step-00000001.safetensors cannot be removed: "):
        kept.clear()


# -- what is in it --------------------------------------------------------------------------------------------------


def test_tensors_and_losses_come_back_bit_by_bit(small, tmp_path):
    tensors = {
        "model.a": torch.rand(3, 5, generator=torch.Generator().manual_seed(0)),
        "step.a": torch.tensor(7.0),
        "exp_avg.a": torch.tensor([float("nan"), -0.0, 1e-45]),
    }
    losses = [0.1, -3.0, 1 / 3]
    kept = Checkpoints(tmp_path, small, graph_checksum(Graph(np.eye(3), [[0], [1]])))
    kept.save(Checkpoint(3, tensors, losses))
    found = kept.newest()
    assert (found.step, found.losses) == (3, losses)
    assert {name: tensor.numpy().tobytes() for name, tensor in found.tensors.items()} == {
        name: tensor.numpy().tobytes() for name, tensor in tensors.items()
    }
