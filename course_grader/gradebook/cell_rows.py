"""Rows of nbgrader's tables that have one for each cell of a submission, as plain values."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import sqlalchemy as sql
from nbgrader.api import Base, new_uuid

if TYPE_CHECKING:
    from sqlalchemy.orm import Session


class CellRows:
    """What is written to one of nbgrader's tables that has a row for each cell of a submission.

    Parameters
    ----------
    session : Session
    kind : type
        `Grade` or `Comment`.
    notebooks : list of str
        Ids of the submitted notebooks.
    """

    def __init__(self, session: Session, kind: type[Base], notebooks: Sequence[str]):
        self._session, self._table = session, kind.__table__
        found = session.execute(
            sql.select(self._table).where(self._table.c.notebook_id.in_(notebooks))
        )
        self.known = {(row.notebook_id, row.cell_id): row for row in found}
        self._new: list[dict[str, Any]] = []
        self._changed: list[dict[str, Any]] = []

    def set(self, notebook: str, cell: str, **values: Any) -> None:
        """What stands in a row; the rest of one that is there already stays."""
        before = self.known.get((notebook, cell))
        if before is None:
            place = {"id": new_uuid(), "notebook_id": notebook, "cell_id": cell}
            self._new.append({**place, **values})
        else:
            self._changed.append({"row": before.id, **values})

    def write(self) -> None:
        """All of them, in two statements at most."""
        if self._new:
            self._session.execute(sql.insert(self._table), self._new)
        if self._changed:
            values: dict[str, Any] = {
                name: sql.bindparam(name) for name in self._changed[0] if name != "row"
            }
            row = self._table.c.id == sql.bindparam("row")
            self._session.execute(sql.update(self._table).where(row).values(values), self._changed)
