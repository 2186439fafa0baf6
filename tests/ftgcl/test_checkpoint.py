"""Checkpoints: a resumed training run gives the same bytes as an uninterrupted one."""

from __future__ import annotations

import errno
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

from graphprox import Graph, ParameterError, WriteError
from graphprox.errors import DamagedCheckpointWarning
from graphprox.ftgcl.checkpoint import Checkpoint, Checkpoints
from graphprox.ftgcl.trainer import train
from graphprox.graph.checksum import graph_checksum


class StopError(Exception):
    """Stops a training run that is resumed later."""


def stop_at(epoch):
    def stop(log):
        if log.epoch == epoch:
            raise StopError

    return stop


@pytest.fixture
def train_until(run, tmp_path):
    """Train in ``tmp_path`` until an epoch, with a checkpoint every 3: those of epochs 3 and 6 by default."""

    def train_until(recipe, *, epoch=8):
        with pytest.raises(StopError):
            run(recipe, checkpoints=tmp_path, checkpoint_every=3, callbacks=[stop_at(epoch)])
        return tmp_path

    return train_until


def names(folder):
    return sorted(path.name for path in folder.iterdir())


def files(*epochs):
    return sorted(f"epoch-{epoch:08d}.{ending}" for epoch in epochs for ending in ("json", "safetensors"))


# -- resuming ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("epoch", [4, 5, 6, 9])
def test_resumed_training_gives_the_same_bytes(run, uninterrupted, recipe, train_until, epoch):
    folder = train_until(recipe, epoch=epoch)
    epochs = []
    resumed = run(recipe, checkpoints=folder, resume=True, callbacks=[lambda log: epochs.append(log.epoch)])
    assert epochs == list(range((epoch - 1) // 3 * 3 + 1, 11))
    assert resumed == uninterrupted(recipe)


def test_training_can_be_resumed_many_times(run, uninterrupted, recipe, tmp_path):
    for epoch in range(2, 11):
        with pytest.raises(StopError):
            run(recipe, checkpoints=tmp_path, checkpoint_every=1, resume=True, callbacks=[stop_at(epoch)])
    assert run(recipe, checkpoints=tmp_path, resume=True) == uninterrupted(recipe)


def test_finished_training_can_be_continued_for_more_epochs(run, uninterrupted, recipe, tmp_path):
    longer = recipe.merged({"epochs": 14})
    assert run(recipe, checkpoints=tmp_path) == uninterrupted(recipe)
    assert run(longer, checkpoints=tmp_path, resume=True) == uninterrupted(longer)
    assert names(tmp_path) == files(10, 14)


def test_finished_training_is_not_repeated(run, uninterrupted, small, tmp_path):
    run(small, checkpoints=tmp_path)
    logs = []
    assert run(small, checkpoints=tmp_path, resume=True, callbacks=[logs.append]) == uninterrupted(small)
    assert logs == []


def test_checkpoints_do_not_change_the_result(run, uninterrupted, recipe, tmp_path):
    assert run(recipe, checkpoints=tmp_path, checkpoint_every=1) == uninterrupted(recipe)


def test_last_two_checkpoints_are_kept(run, small, tmp_path):
    run(small, checkpoints=tmp_path, checkpoint_every=3)
    assert names(tmp_path) == files(9, 10)


def test_training_starts_again_without_resume(run, uninterrupted, small, train_until):
    folder = train_until(small)
    epochs = []
    assert run(small, checkpoints=folder, callbacks=[lambda log: epochs.append(log.epoch)]) == uninterrupted(small)
    assert epochs == list(range(1, 11))
    assert names(folder) == files(10)


def test_resume_without_a_checkpoint_starts_from_the_beginning(run, uninterrupted, small, tmp_path):
    assert run(small, checkpoints=tmp_path / "new", resume=True) == uninterrupted(small)


def test_labels_do_not_affect_checkpoints(graph, rankings, small, uninterrupted, train_until):
    folder = train_until(small)
    relabeled = graph.with_labels(np.zeros(graph.num_nodes, int))
    _, losses = train(relabeled, rankings, small, checkpoints=folder, resume=True)
    assert tuple(losses) == uninterrupted(small).losses


def test_training_for_zero_epochs_writes_no_checkpoint(run, small, tmp_path):
    none = small.merged({"epochs": 0})
    assert run(none, checkpoints=tmp_path, resume=True) == run(none)
    assert names(tmp_path) == []


# -- damage ---------------------------------------------------------------------------------------------------------


def flip_bit(path):
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 1
    path.write_bytes(content)


def change_fields(path, **fields):
    path.write_text(json.dumps(json.loads(path.read_text()) | fields))


DAMAGES = {
    "truncated tensors": ("safetensors", lambda path: path.write_bytes(path.read_bytes()[:-40])),
    "empty tensors": ("safetensors", lambda path: path.write_bytes(b"")),
    "flipped bit in the tensors": ("safetensors", flip_bit),
    "missing tensors": ("safetensors", Path.unlink),
    "truncated description": ("json", lambda path: path.write_bytes(path.read_bytes()[:-40])),
    "empty description": ("json", lambda path: path.write_bytes(b"")),
    "flipped bit in the recipe": ("json", flip_bit),
    "another graph's checksum": ("json", lambda path: change_fields(path, graph="0" * 64)),
    "another epoch": ("json", lambda path: change_fields(path, epoch=7)),
    "another format": ("json", lambda path: change_fields(path, format=1)),
    "no format": ("json", lambda path: path.write_text("{}")),
    "a list": ("json", lambda path: path.write_text("[1, 2]")),
    "not UTF-8": ("json", lambda path: path.write_bytes(b"\xff\xfe\x00")),
}


@pytest.fixture(params=DAMAGES.values(), ids=DAMAGES)
def damage(request):
    """Damage the checkpoint of an epoch, and return the name of the damaged file."""
    ending, apply = request.param

    def damage(folder, epoch):
        path = folder / f"epoch-{epoch:08d}.{ending}"
        apply(path)
        return path.name

    return damage


def resume_with_warnings(run, *arguments, **options):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        result = run(*arguments, **options, resume=True)
    assert {each.category for each in caught} <= {DamagedCheckpointWarning}
    return result, [str(each.message) for each in caught]


def test_damaged_checkpoint_is_named_and_an_older_one_is_used(run, uninterrupted, small, train_until, damage):
    folder = train_until(small)
    name = damage(folder, 6)
    epochs = []
    result, (message,) = resume_with_warnings(
        run, small, checkpoints=folder, checkpoint_every=3, callbacks=[lambda log: epochs.append(log.epoch)]
    )
    assert message.startswith((f"{folder / name} is damaged: ", f"{folder / name} must have format 2; "))
    assert message.endswith(": trying an older checkpoint")
    assert epochs == list(range(4, 11))
    assert result == uninterrupted(small)


def test_training_starts_again_if_all_checkpoints_are_damaged(run, uninterrupted, small, train_until, damage):
    folder = train_until(small)
    damaged = [damage(folder, epoch) for epoch in (6, 3)]
    epochs = []
    result, messages = resume_with_warnings(
        run, small, checkpoints=folder, callbacks=[lambda log: epochs.append(log.epoch)]
    )
    assert [str(folder / name) in each for name, each in zip(damaged, messages, strict=True)] == [True, True]
    assert epochs == list(range(1, 11))
    assert result == uninterrupted(small)


def test_damaged_checkpoint_is_replaced_by_a_new_one(run, uninterrupted, small, train_until):
    folder = train_until(small)
    for path in folder.glob("*.safetensors"):
        flip_bit(path)

    with pytest.raises(StopError), pytest.warns(DamagedCheckpointWarning):
        run(small, checkpoints=folder, resume=True, checkpoint_every=1, callbacks=[stop_at(2)])
    assert names(folder) == files(1)
    result, messages = resume_with_warnings(run, small, checkpoints=folder)
    assert (result, messages) == (uninterrupted(small), [])


def test_partial_files_of_a_killed_process_are_removed(run, uninterrupted, small, train_until):
    folder = train_until(small)
    left = [
        ".epoch-00000008.safetensors.a1b2c3d4.part",
        ".epoch-00000008.json.a1b2c3d4.part",
        "epoch-00000008.safetensors",
    ]
    for name in left:
        (folder / name).write_bytes(b"half")
    result, messages = resume_with_warnings(run, small.merged({"epochs": 6}), checkpoints=folder)
    assert messages == []
    assert names(folder) == files(3, 6)
    assert result == uninterrupted(small.merged({"epochs": 6}))


# -- checkpoints of another training --------------------------------------------------------------------------------


def test_checkpoint_of_another_graph_is_rejected(graph, rankings, small, train_until):
    folder = train_until(small)
    x = graph.x.copy()
    x[0, 0] += 1
    with pytest.raises(ParameterError, match=r"epoch-00000006.safetensors is of another one: pass that graph, or"):
        train(graph.with_features(x), rankings, small, checkpoints=folder, resume=True)
    assert names(folder) == files(3, 6)


@pytest.mark.parametrize(
    ("changes", "differing"),
    [
        ({"random_state": 1}, "random_state"),
        ({"epochs": 20, "optimizer": {"learning_rate": 0.1}}, "optimizer.learning_rate"),
        (
            {"encoder": {"n_components": 16}, "views": {"feature": {"k_max": 2}}},
            "encoder.n_components, views.feature.k_max",
        ),
        ({"normalize": "none"}, "normalize"),
    ],
)
def test_checkpoint_of_another_recipe_is_rejected(run, small, train_until, changes, differing):
    folder = train_until(small)
    with pytest.raises(ParameterError) as refused:
        run(small.merged(changes), checkpoints=folder, resume=True)
    message = str(refused.value)
    named = message.partition("differs in ")[2].partition(":")[0]
    assert sorted(named.split(", ")) == sorted(differing.split(", "))
    assert message.endswith(": pass those settings, or set overwrite=True in place of resume=True to start again")
    assert names(folder) == files(3, 6)


def test_fewer_epochs_than_were_trained_are_rejected(run, small, train_until):
    folder = train_until(small)
    with pytest.raises(ParameterError, match=r"epochs must be at least 6 to continue .*; got 5: set overwrite=True"):
        run(small.merged({"epochs": 5}), checkpoints=folder, resume=True)
    assert run(small.merged({"epochs": 6}), checkpoints=folder, resume=True).losses


def test_resume_needs_a_folder(run, small):
    with pytest.raises(ParameterError, match="resume needs a folder"):
        run(small, resume=True)


@pytest.mark.parametrize("every", [0, -3])
def test_number_of_epochs_between_checkpoints_must_be_positive(run, small, tmp_path, every):
    with pytest.raises(ParameterError, match=f"checkpoint_every must be a positive integer; got {every}"):
        run(small, checkpoints=tmp_path, checkpoint_every=every)


# -- full disks and missing permissions -----------------------------------------------------------------------------


@contextmanager
def limited_file_size(size):
    """Limit the size of files, as a full disk does."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


@pytest.mark.parametrize("size", [0, 100, 5_000])
def test_full_disk_leaves_the_older_checkpoints(run, uninterrupted, small, train_until, size):
    folder = train_until(small)
    assert all(path.stat().st_size > size for path in folder.glob("*.safetensors"))
    with pytest.raises(WriteError, match=os.strerror(errno.EFBIG)) as refused, limited_file_size(size):
        run(small, checkpoints=folder, resume=True, checkpoint_every=1)
    assert "epoch-00000007.safetensors cannot be written" in str(refused.value)
    assert names(folder) == files(3, 6)
    assert run(small, checkpoints=folder, resume=True) == uninterrupted(small)


def test_folder_that_cannot_be_created_is_rejected_before_the_first_epoch(run, small, tmp_path):
    (tmp_path / "file").write_text("in the way")
    logs = []
    with pytest.raises(WriteError, match="file/checkpoints must be a folder that can be written to: Not a directory"):
        run(small, checkpoints=tmp_path / "file" / "checkpoints", callbacks=[logs.append])
    assert logs == []


# Another user may not be able to read the modules of the interpreter, so the user changes once they are imported.
AS_NOBODY = """
import os, sys
from pathlib import Path
import graphprox
from graphprox.ftgcl.fit import fit_recipe
from graphprox.ftgcl.recipe import Recipe
graph = graphprox.synthetic(nodes=140)
recipe = Recipe(epochs=2, pairs=[["graph", "feature"]], encoder={"n_components": 4})
fit_recipe(graph, recipe, cache=False)
if os.geteuid() == 0:
    os.setgroups([])
    os.setgid(65534)
    os.setuid(65534)
for resume in (False, True):
    for folder in ("closed", "model"):
        try:
            fit_recipe(graph, recipe, cache=False, folder=Path(folder), resume=resume)
        except graphprox.WriteError as error:
            print(error)
"""


def test_folder_that_is_not_writable_is_named():
    with TemporaryDirectory() as place:
        closed = [Path(place, name) for name in ("closed", "model/checkpoints")]
        for folder in closed:
            folder.mkdir(parents=True)
            folder.chmod(0o555)
        Path(place).chmod(0o755)
        Path(place, "model").chmod(0o777)
        program = [sys.executable, "-c", AS_NOBODY]
        child = subprocess.run(program, capture_output=True, text=True, cwd=place, timeout=100)
        assert [names(folder) for folder in closed] == [[], []]
        for folder in closed:
            folder.chmod(0o755)
    rule = "must be a folder that can be written to: Permission denied"
    assert child.stdout.splitlines() == [f"closed {rule}", f"model/checkpoints {rule}"] * 2, child.stderr


def test_checkpoint_that_cannot_be_removed_is_a_write_error(small, graph, tmp_path):
    checkpoints = Checkpoints(tmp_path, small, graph_checksum(graph))
    (tmp_path / "epoch-00000001.safetensors").mkdir()
    with pytest.raises(WriteError, match=r"epoch-00000001.safetensors cannot be removed: "):
        checkpoints.clear()


# -- content --------------------------------------------------------------------------------------------------------


def test_tensors_and_losses_are_restored_bit_by_bit(small, tmp_path):
    tensors = {
        "model.a": torch.rand(3, 5, generator=torch.Generator().manual_seed(0)),
        "step.a": torch.tensor(7.0),
        "exp_avg.a": torch.tensor([float("nan"), -0.0, 1e-45]),
    }
    losses = [0.1, -3.0, 1 / 3]
    checkpoints = Checkpoints(tmp_path, small, graph_checksum(Graph(np.eye(3), [[0], [1]])))
    checkpoints.save(Checkpoint(3, tensors, losses))
    found = checkpoints.newest()
    assert (found.epoch, found.losses) == (3, losses)
    assert {name: tensor.numpy().tobytes() for name, tensor in found.tensors.items()} == {
        name: tensor.numpy().tobytes() for name, tensor in tensors.items()
    }
