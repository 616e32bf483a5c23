"""Brush models."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, overload

from ._errors import RefusedError
from ._types import CopiedModel, Model, RemovedModels

if TYPE_CHECKING:
    from ._native import Map


class Models(Sequence[Model]):
    """The brush models of a map as they are when they are asked for. The first one is the world."""

    def __init__(self, map: Map, models: list[Model]) -> None:
        self._map, self._models = map, models

    def __len__(self) -> int:
        return len(self._models)

    @overload
    def __getitem__(self, index: int) -> Model: ...
    @overload
    def __getitem__(self, index: slice) -> list[Model]: ...
    def __getitem__(self, index: int | slice) -> Model | list[Model]:
        return self._models[index]

    def remove(
        self, numbers: int | Iterable[int], *, keep_entity: bool = False, force: bool = False
    ) -> RemovedModels:
        """Removes models with what only they have: records, light, collision models, and the entities that name
        them. Later models get smaller numbers, which entities follow. ``keep_entity`` removes only the key of the
        entities; where engines refuse a map with such an entity, it is an error.

        ``force`` removes them although lumps of unknown content may refer to their parts. Ask for ``map.models`` again
        to see what is left: a list from before is refused, since its numbers are of other models now.
        """
        if self._without_entities() != self._map.models._without_entities():
            raise RefusedError("the models of the map have changed since: ask for `map.models` again")
        places = range(len(self))
        all = [places[number] for number in ([numbers] if isinstance(numbers, int) else numbers)]
        return RemovedModels(*self._map._remove_models(all, keep_entity, force))

    def _without_entities(self) -> list[Model]:
        """The models without the entities that name them, whose numbers change more often."""
        return [replace(model, entities=[]) for model in self._models]

    def copy_from(
        self, other: Map, number: int, *, entity: bool | str | bytes = True, force: bool = False
    ) -> CopiedModel:
        """Copies a model of another map of the same game, with all that it needs: records, textures, light. What is
        equal in both maps is not added again, and nothing that is there changes.

        With ``entity`` true the entities that name the model are copied; a class makes one new entity, and false none.
        ``force`` copies it although it exceeds a limit of an engine.
        """
        number = range(len(other.models))[number] if number < 0 else number
        return CopiedModel(*self._map._copy_model(other, number, entity, force))

    def __repr__(self) -> str:
        return f"<bspkit.Models, {len(self)}>"
