"""The estimators of the FT-GCL family, beyond the laws of all methods in tests/contracts.

Covers graphprox.ftgcl.base, graphprox.ftgcl.recipe_embedder, graphprox.ftgcl.grace and graphprox.ftgcl.untrained.
"""

from __future__ import annotations

import json
from functools import cache

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline

import graphprox
from contracts.small import small as small_method
from graphprox import (
    FTGCL,
    GRACE,
    Dataset,
    Graph,
    ParameterError,
    ReadError,
    Recipe,
    UntrainedEncoder,
    WriteError,
    load,
    synthetic,
)
from graphprox._utils.toml import nest
from graphprox.ftgcl.base import ContrastiveEmbedder
from graphprox.ftgcl.fit import fit_recipe
from graphprox.ftgcl.overrides import FIELDS
from graphprox.ftgcl.trainer import EpochLog
from graphprox.methods import METHODS
from graphprox.nn.encoders import ENCODERS

FAMILY = {name: kind for name, kind in METHODS.items() if issubclass(kind, ContrastiveEmbedder)}
ALL_PRESETS = [(name, preset) for name, kind in FAMILY.items() for preset in kind.preset_names()]


def small(name="ft-gcl", **parameters):
    return small_method(name, **parameters)


@cache
def ring(nodes: int = 60, *, extra: int = 0) -> Graph:
    """A ring with dense features, and ``extra`` nodes that are each attached to one of its first nodes."""
    rng = np.random.default_rng(0)
    x = rng.normal(size=(nodes + extra, 5)).astype(np.float32)
    around = np.arange(nodes)
    attached = np.arange(nodes, nodes + extra)
    edges = np.stack([np.concatenate([around, attached]), np.concatenate([(around + 1) % nodes, attached - nodes])])
    return Graph(x, edges, y=around.tolist() + [0] * extra)


# -- parameters and recipes -----------------------------------------------------------------------------------------


def test_default_of_the_estimator_is_the_default_recipe():
    assert FTGCL().recipe() == Recipe()


def test_parameters_set_the_fields_of_the_recipe():
    parameters = {
        "epochs": 3,
        "k_max": 4,
        "encoder": "sage",
        "n_components": 12,
        "hidden_channels": 10,
        "num_layers": 3,
        "activation": "elu",
        "head_layers": 1,
        "head_channels": 9,
        "temperature": 0.7,
        "learning_rate": 0.1,
        "weight_decay": 0.0,
        "normalize": "none",
    }
    assert set(parameters) == set(FIELDS)
    recipe = FTGCL(**parameters, overrides={"views.feature.binary": True}).recipe()
    expected = {FIELDS[name]: value for name, value in parameters.items()} | {"views.feature.binary": True}
    assert recipe == Recipe().with_overrides(expected)


@pytest.mark.parametrize(("parameter", "field"), FIELDS.items())
def test_override_of_a_field_with_a_parameter_is_rejected(parameter, field):
    value = FTGCL().get_params()[parameter]
    message = rf"^overrides must not contain '{field}'; got .*: use the parameter {parameter}$"
    for overrides in ({field: value}, nest(field, value)):
        with pytest.raises(ParameterError, match=message):
            FTGCL(overrides=overrides).recipe()


def test_fields_by_name_are_parameters_or_else_overrides():
    made = graphprox.method("ft-gcl", **{"encoder.n_components": 512, "views": {"k_max": 4, "undirected": True}})
    assert repr(made) == "FTGCL(k_max=4, n_components=512, overrides={'views.undirected': True})"
    assert FTGCL.from_preset("Cora", views={"k_max": 4}).k_max == 4


def test_field_that_equals_its_default_takes_precedence_over_the_preset_of_a_data_set():
    fields = {"encoder.name": "gcn", "encoder.residual": False}
    texas = Dataset("Texas", ring())
    expected = FTGCL.from_preset("Texas", **fields)
    assert expected.encoder == "gcn"
    assert graphprox.method("ft-gcl", **fields).resolve_preset(texas).settings() == expected.settings()
    assert graphprox.method("ft-gcl", dataset="Texas", **fields).settings() == expected.settings()


def test_encoder_that_is_not_hashable_is_rejected():
    with pytest.raises(ParameterError, match=r"^encoder must be one of .*; got \['gcn'\]$"):
        FTGCL(encoder=["gcn"]).fit(ring())


@pytest.mark.parametrize(("name", "preset"), ALL_PRESETS)
def test_estimator_of_a_recipe_has_that_recipe(name, preset):
    kind = FAMILY[name]
    recipe = kind.from_preset(preset).recipe()
    assert recipe.method == name
    estimator = kind.from_recipe(recipe)
    assert estimator.recipe() == recipe
    assert clone(estimator).recipe() == recipe
    seeded = recipe.merged({"random_state": 7})
    assert kind.from_recipe(seeded).random_state == 7


@pytest.mark.parametrize("name", FAMILY)
def test_estimator_of_any_recipe_has_its_settings(name):
    changes = {
        "schedule": "sum",
        "encoder": {"name": "gat", "heads": 4, "n_components": 64, "hidden_channels": None},
        "views": {"undirected": True, "feature": {"k_min": 2, "k_max": 3}, "topology": {"num_walks": 5}},
        "objective": {"name": "node", "temperature": 0.3},
    }
    recipe = FAMILY[name]().recipe().merged(changes)
    assert FAMILY[name].from_recipe(recipe, device="cpu").recipe() == recipe


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"n_components": -5}, r"^n_components must be a positive integer; got -5$"),
        ({"temperature": 0}, r"^temperature must be a finite number above 0; got 0$"),
        ({"encoder": "gta"}, rf"^encoder must be one of {', '.join(ENCODERS)}; got 'gta'$"),
        ({"preset": "cora"}, r"^FT-GCL has no preset 'cora'; did you mean 'Cora'\?$"),
        ({"preset": None}, r"^FT-GCL has no preset None; valid names are auto, default"),
        ({"overrides": {"head.out_chanels": 3}}, r"^recipe has no field 'head\.out_chanels'; did you mean 'head\.out"),
        (
            {"overrides": {"encoder.width": 3}},
            r"^recipe has no field 'encoder\.width'; it was renamed to encoder\.n_components",
        ),
        ({"overrides": ["epochs=3"]}, r"^overrides must map fields .* got \['epochs=3'\]$"),
        ({"overrides": {"random_state": 3}}, r"^overrides must not contain 'random_state'; got 3: set the parameter"),
        ({"overrides": {"method": "grace"}}, r"^overrides must not contain 'method'; got 'grace': use the class"),
        ({"device": "tpu"}, r"^device must be auto or an available one \(.*cpu\); got 'tpu'$"),
        ({"resume": True}, r"^resume needs a folder with checkpoints; got none: set checkpoint_dir$"),
        ({"checkpoint_every": 0}, r"^checkpoint_every must be a positive integer; got 0$"),
    ],
)
def test_invalid_parameter_is_rejected_by_fit(parameters, message):
    estimator = FTGCL(**parameters)
    with pytest.raises(ParameterError, match=message):
        estimator.fit(ring())


# -- presets --------------------------------------------------------------------------------------------------------


def test_explicit_value_takes_precedence_over_the_preset_even_if_it_is_the_default():
    default = FTGCL().epochs
    assert FTGCL.from_preset("Cora").epochs != default
    assert FTGCL.from_preset("Cora", epochs=default).epochs == default
    assert graphprox.method("ft-gcl", dataset="Cora", epochs=default).epochs == default
    assert FTGCL.from_preset("Cora", **{"encoder.name": "gcn"}).encoder == "gcn"


def test_value_that_differs_from_the_default_takes_precedence_over_the_preset():
    assert FTGCL(preset="Cora", epochs=5).resolve_preset().recipe() == FTGCL.from_preset("Cora", epochs=5).recipe()
    both = FTGCL(preset="Texas", encoder="gat", overrides={"encoder.heads": 4}).resolve_preset().recipe()
    assert (both.encoder.name, both.encoder.heads, both.encoder.num_layers) == ("gat", 4, 1)


def test_preset_does_not_change_parameters_outside_of_the_recipe():
    made = FTGCL.from_preset("Cora", device="cpu", random_state=3, cache=False, verbose=True)
    assert (made.device, made.random_state, made.cache, made.verbose) == ("cpu", 3, False, True)
    assert FTGCL.from_preset("Cora").random_state == FTGCL().random_state


def test_data_set_selects_its_preset_in_fit():
    dataset = load("synthetic")
    embedder = FTGCL(epochs=2, cache=False).fit(dataset)
    expected = FTGCL.from_preset("synthetic", epochs=2).recipe()
    assert embedder.recipe_ == expected
    assert embedder.get_params() == FTGCL(epochs=2, cache=False).get_params()
    assert embedder.settings_ == FTGCL.from_recipe(expected).settings()
    assert FTGCL(epochs=2, cache=False, preset="default").fit(dataset).recipe_ == Recipe(epochs=2)
    assert FTGCL(epochs=2, cache=False).fit(dataset.graph).recipe_ == Recipe(epochs=2)


def test_embed_prefers_its_parameters_to_the_preset_of_the_data_set(monkeypatch):
    trained = []
    monkeypatch.setattr(FTGCL, "_fit", lambda self, graph, *_: trained.append(self.recipe()) or graph.x)
    graphprox.embed(Dataset("Texas", ring()), "ft-gcl", epochs=20)
    graphprox.embed(Dataset("mine", ring()), "ft-gcl", epochs=20)
    graphprox.embed(Dataset("Texas", ring()), "ft-gcl", epochs=20, preset="default")
    assert trained == [FTGCL.from_preset("Texas", epochs=20).recipe(), Recipe(), Recipe()]


@pytest.mark.parametrize(("field", "new"), [("steps", "epochs"), ("encoder.width", "encoder.n_components")])
def test_old_name_of_a_setting_is_rejected_with_the_new_name(field, new):
    message = rf"^FT-GCL has no setting '{field}'; it was renamed to '{new}' in version 0\.2$"
    with pytest.raises(ParameterError, match=message):
        graphprox.method("ft-gcl", **{field: 3})


# -- training -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", FAMILY)
def test_fit_sets_model_recipe_rankings_and_losses(name):
    embedder = small(name).fit(ring())
    epochs = 0 if name == "untrained" else 2
    assert embedder.loss_curve_.shape == (epochs,)
    assert embedder.recipe_ == embedder.model_.recipe == embedder.recipe()
    assert set(embedder.rankings_) == (set(embedder.recipe_.required_views) if epochs else set())
    assert np.array_equal(embedder.transform(ring()), embedder.vectors_)


def test_fit_uses_the_recipe():
    embedder = small(overrides={"encoder.residual": True}, random_state=3).fit(ring())
    assert embedder.recipe_.random_state == 3
    again = fit_recipe(ring(), embedder.recipe_, cache=False)
    assert np.array_equal(embedder.vectors_, again.vectors)
    assert np.array_equal(embedder.loss_curve_, again.losses)


def test_untrained_encoder_equals_training_for_zero_epochs():
    expected = FTGCL(epochs=0, cache=False, random_state=5).fit(ring())
    assert np.array_equal(UntrainedEncoder(random_state=5).fit_transform(ring()), expected.vectors_)


def test_number_of_components_includes_all_concatenated_layers():
    embedder = small(overrides={"encoder.jumping": "concat"}).fit(ring())
    assert embedder.vectors_.shape == (60, 16)
    assert len(embedder.get_feature_names_out()) == 16


@pytest.mark.parametrize("make", [np.random.RandomState, np.random.default_rng])
def test_random_state_object_is_advanced_by_each_fit(make):
    embedder = small("f-gcl", random_state=make(0))
    first, second = embedder.fit_transform(ring()), embedder.fit_transform(ring())
    assert not np.array_equal(first, second)
    assert np.array_equal(small("f-gcl", random_state=make(0)).fit_transform(ring()), first)


def test_random_seed_is_recorded_in_the_recipe():
    first, second = (small("f-gcl", random_state=None).fit(ring()) for _ in range(2))
    assert first.recipe_.random_state != second.recipe_.random_state
    again = small("f-gcl", random_state=first.recipe_.random_state)
    assert np.array_equal(again.fit_transform(ring()), first.vectors_)


def test_callbacks_are_called_after_each_epoch():
    logs, numbers = [], []
    embedder = small(epochs=3, callbacks=(logs.append, lambda log: numbers.append(log.epoch))).fit(ring())
    assert all(isinstance(log, EpochLog) for log in logs)
    assert numbers == [log.epoch for log in logs] == [1, 2, 3]
    assert [log.loss for log in logs] == embedder.loss_curve_.tolist()


@pytest.mark.parametrize("encoder", ["gat", "sage", "gcn", "gin"])
def test_nodes_far_from_a_change_keep_their_vectors(encoder):
    rng = np.random.default_rng(2)
    graph, grown = ring(), ring(extra=6)
    grown = grown.with_features(np.concatenate([graph.x, rng.normal(size=(6, 5))]))
    embedder = small(encoder=encoder).fit(graph)
    vectors = embedder.transform(grown)
    # Nodes 0 to 5 have a new neighbor each; two layers have a receptive field of two hops.
    far, near = np.arange(8, 58), np.arange(6)
    assert np.abs(vectors[far] - embedder.vectors_[far]).max() <= 1e-5
    assert (np.abs(vectors[near] - embedder.vectors_[near]).max(axis=1) > 1e-4).all()


def test_features_alone_are_nodes_without_edges():
    embedder = small().fit(ring())
    alone = embedder.transform(ring().x)
    assert alone.shape == (60, 8)
    assert not np.allclose(alone, embedder.vectors_, atol=1e-3)
    assert np.allclose(embedder.transform(ring().x[:1]), alone[:1], atol=1e-6)


def test_input_is_not_changed_and_may_change_later():
    x, edges = ring().x.copy(), ring().edge_index.copy()
    embedder = small().fit((x, edges))
    assert np.array_equal(x, ring().x)
    assert np.array_equal(edges, ring().edge_index)
    before = embedder.vectors_.copy()
    x[:], edges[:] = 0, 0
    assert np.array_equal(embedder.vectors_, before)


def test_pipeline_passes_labels_to_the_classifier_only():
    graph = synthetic(nodes=140, random_state=1)
    pipeline = make_pipeline(small(epochs=10, n_components=32), LogisticRegression(max_iter=1000))
    assert pipeline.fit(graph, graph.y).score(graph, graph.y) > 1.5 / graph.num_classes
    assert np.array_equal(pipeline[0].vectors_, small(epochs=10, n_components=32).fit_transform(graph))


def test_rankings_are_cached_if_requested(no_data):
    folder = no_data.parent / "rankings"
    small().fit(ring())
    assert not folder.exists()
    first = small(cache=True).fit(ring())
    assert len(list(folder.iterdir())) == 2
    assert np.array_equal(small(cache=True).fit_transform(ring()), first.vectors_)


def test_verbose_prints_progress_on_stderr(capsys):
    small(epochs=30).fit(ring())
    assert capsys.readouterr() == ("", "")
    embedder = small(epochs=30, verbose=True).fit(ring())
    out, err = capsys.readouterr()
    assert out == ""
    lines = [line for line in err.splitlines() if line.startswith("FT-GCL: training")]
    assert len(lines) == 11
    assert lines[-1] == f"FT-GCL: training 30 of 30, loss {embedder.loss_curve_[-1]:.4f}"


# -- checkpoints ----------------------------------------------------------------------------------------------------


def test_resumed_fit_equals_an_uninterrupted_one(tmp_path):
    def stop(log):
        if log.epoch == 5:
            raise InterruptedError

    expected = small(epochs=8).fit(ring())
    with pytest.raises(InterruptedError):
        small(epochs=8, checkpoint_dir=tmp_path / "model", checkpoint_every=2, callbacks=[stop]).fit(ring())
    epochs = []
    resumed = small(
        epochs=8,
        checkpoint_dir=str(tmp_path / "model"),
        resume=True,
        callbacks=[lambda log: epochs.append(log.epoch)],
    ).fit(ring())
    assert epochs == [5, 6, 7, 8]
    assert resumed.vectors_.tobytes() == expected.vectors_.tobytes()
    assert np.array_equal(resumed.loss_curve_, expected.loss_curve_)
    assert FTGCL.load(tmp_path / "model").transform(ring()).tobytes() == expected.vectors_.tobytes()
    resumed.save(tmp_path / "saved")
    assert np.array_equal(FTGCL.load(tmp_path / "saved").loss_curve_, expected.loss_curve_)


# -- saving and loading ---------------------------------------------------------------------------------------------


@pytest.fixture
def saved_model(tmp_path):
    """A folder with a model, and its estimator."""
    embedder = small(overrides={"encoder.residual": True}, random_state=3).fit(ring())
    embedder.save(tmp_path / "model")
    return tmp_path / "model", embedder


@pytest.mark.parametrize("name", FAMILY)
def test_loaded_estimator_transforms_as_the_saved_one(name, tmp_path):
    embedder = small(name, random_state=4).fit(ring())
    embedder.save(tmp_path)
    for loaded in (FAMILY[name].load(tmp_path), ContrastiveEmbedder.load(str(tmp_path))):
        assert type(loaded) is FAMILY[name]
        assert loaded.transform(ring()).tobytes() == embedder.vectors_.tobytes()
        assert np.array_equal(loaded.loss_curve_, embedder.loss_curve_)
        assert (loaded.recipe_, loaded.n_features_in_) == (embedder.recipe_, 5)
        assert loaded.settings_ == embedder.settings_
        assert loaded.get_feature_names_out().tolist() == embedder.get_feature_names_out().tolist()
        with pytest.raises(NotFittedError):
            _ = loaded.embedding_


@pytest.mark.parametrize(("name", "preset"), [("ft-gcl", "default"), ("ft-gcl", "Actor"), ("grace", "PubMed")])
def test_loaded_estimator_has_the_same_recipe(name, preset, tmp_path):
    changes = {"schedule": "sum", "encoder.residual": True, "views.feature.k_max": 3}
    embedder = small(name, preset=preset, random_state=9, overrides=changes).fit(ring())
    embedder.save(tmp_path)
    loaded = FAMILY[name].load(tmp_path, device="cpu").set_params(cache=False)
    assert loaded.preset == "default"
    again = clone(loaded).fit(ring())
    assert again.recipe_ == embedder.recipe_
    assert again.vectors_.tobytes() == embedder.vectors_.tobytes()


def test_no_file_of_the_folder_is_a_pickle(saved_model, monkeypatch):
    folder, embedder = saved_model
    names = {"recipe.toml", "about.json", "metrics.jsonl", "weights.safetensors"}
    assert {path.name for path in folder.iterdir()} == names

    def refuse(*_args, **_options):
        raise AssertionError("something is unpickled")

    for name in ("pickle.load", "pickle.loads", "pickle.Unpickler", "torch.load"):
        monkeypatch.setattr(name, refuse)
    assert np.array_equal(FTGCL.load(folder).transform(ring()), embedder.vectors_)


def test_saving_again_replaces_the_model(saved_model):
    folder, embedder = saved_model
    embedder.set_params(epochs=5).fit(ring())
    with pytest.raises(WriteError, match=r"a model must not be replaced unasked; .*: set overwrite=True to replace it"):
        embedder.save(folder)
    embedder.save(folder, overwrite=True)
    assert len(FTGCL.load(folder).loss_curve_) == 5


def test_saved_metrics_equal_those_of_a_training_run_with_a_folder(saved_model, tmp_path):
    folder, embedder = saved_model
    fit_recipe(ring(), embedder.recipe_, cache=False, folder=tmp_path / "other")

    def lines(path):
        return [json.loads(line) | {"seconds": 0} for line in (path / "metrics.jsonl").read_text().splitlines()]

    assert lines(folder) == lines(tmp_path / "other")
    assert np.array_equal(FTGCL.load(tmp_path / "other").transform(ring()), embedder.vectors_)


def test_class_loads_models_of_its_own_method_only(saved_model):
    message = r"^GRACE\.load loads models of grace; got one of ft-gcl: call FTGCL\.load$"
    with pytest.raises(ParameterError, match=message):
        GRACE.load(saved_model[0])


def test_subclass_loads_as_itself(saved_model):
    class Mine(FTGCL):
        pass

    assert type(Mine.load(saved_model[0])) is Mine


def test_recipe_keeps_a_name_of_its_own(tmp_path):
    recipe = small().recipe().merged({"method": "mine"})
    assert FTGCL.from_recipe(recipe).recipe() == recipe
    embedder = FTGCL.from_recipe(recipe, cache=False).fit(ring())
    embedder.save(tmp_path)
    for loaded in (FTGCL.load(tmp_path), ContrastiveEmbedder.load(tmp_path)):
        assert loaded.recipe_.method == "mine"
        assert np.array_equal(loaded.transform(ring()), embedder.vectors_)
    with pytest.raises(ParameterError, match=r"^GRACE\.load loads models of grace; got one of mine: call FTGCL\.load$"):
        GRACE.load(tmp_path)


def test_model_of_a_method_outside_of_the_family_is_rejected(tmp_path):
    fit_recipe(ring(), small().recipe().merged({"method": "dgi"}), cache=False, folder=tmp_path)
    with pytest.raises(ParameterError, match=r"^a model must be of a method of the FT-GCL family; got 'dgi': "):
        ContrastiveEmbedder.load(tmp_path)


def test_folder_without_a_model_is_rejected(tmp_path):
    with pytest.raises(ReadError, match="must be the folder of a model"):
        FTGCL.load(tmp_path / "none")


def test_unfitted_estimator_cannot_be_saved(tmp_path):
    with pytest.raises(NotFittedError, match="This FTGCL instance is not fitted yet"):
        small().save(tmp_path)


def test_model_can_be_loaded_without_its_metrics(saved_model):
    folder, embedder = saved_model
    metrics = folder / "metrics.jsonl"
    metrics.write_text(metrics.read_text()[:-9])  # as a killed process leaves it
    assert FTGCL.load(folder).loss_curve_.tolist() == embedder.loss_curve_[:1].tolist()
    metrics.unlink()
    assert FTGCL.load(folder).loss_curve_.tolist() == []


def test_loaded_model_is_saved_to_the_same_bytes(saved_model, tmp_path):
    FTGCL.load(saved_model[0]).save(tmp_path / "again")
    for path in saved_model[0].iterdir():
        assert (tmp_path / "again" / path.name).read_bytes() == path.read_bytes()


# -- a graph without features that has grown ------------------------------------------------------------------------


def tree_edges(nodes):
    """Return a tree with a hub, whose first nodes have the same edges in a larger one."""
    child = np.arange(1, nodes)
    return np.stack([np.where(child % 3, child // 3, 0), child])


@pytest.mark.filterwarnings("ignore::graphprox.StructuralFeaturesWarning")
@pytest.mark.parametrize("name", ["ft-gcl", "grace"])
def test_a_loaded_model_transforms_a_grown_graph_without_features(name, tmp_path):
    graph, grown = (Graph(None, tree_edges(nodes), num_nodes=nodes) for nodes in (1200, 5000))
    model = small(name).fit(graph)
    model.save(tmp_path / "model")
    loaded = type(model).load(tmp_path / "model")
    assert loaded.transform(grown).shape == (5000, 8)
    assert np.array_equal(loaded.transform(grown), model.transform(grown))


def test_embed_after_leaves_a_fitted_estimator_as_it_is():
    graph = synthetic(nodes=140)
    table = np.column_stack([graph.x, np.random.default_rng(0).normal(50_000, 9_000, graph.num_nodes)])
    other = graph.with_features(1000 * table + 7)
    embedder = FTGCL(n_components=8, epochs=2, k_max=3, cache=False).fit(graph.with_features(table))
    before = embedder.transform(graph.with_features(table))
    assert len(list(embedder.embed_after(other, [1]))) == 1
    np.testing.assert_array_equal(embedder.transform(graph.with_features(table)), before)
