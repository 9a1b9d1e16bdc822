"""What users do with branches and turns.

Owns fork, switch, edit, regenerate, rename, delete, restore and undo on the conversation shown. Knows
no widget; everything goes through the store and ``Runs``.
"""

from __future__ import annotations

from advchat.actions import UserError
from advchat.controller import tree_views
from advchat.controller.conversing import Conversing
from advchat.controller.core import branch_name
from advchat.naming import branch_label
from advchat_storage import Branch, Turn
from advchat_storage.models import TitleSource

CONTINUE_PROMPT = "Continue exactly where you stopped."


class Branching(Conversing):
    """The actions on branches, on top of the place that is shown."""

    async def fork(self, turn: int, *, after: bool = False, title: str = "") -> str:
        """Fork the branch shown before (or after) a turn and show the new branch, its composer empty.

        Returns the new branch's ID. Raises ``UserError`` when the branch has no such turn.
        """
        branch_id = await self._fork(turn, after=after, title=title)
        await self._show_branch(branch_id)
        return branch_id

    async def _fork(self, turn: int, *, after: bool = False, title: str = "", source: str | None = None) -> str:
        """Fork the branch shown, or ``source``, without showing the new one."""
        if not self._stored:
            raise UserError("Nothing to fork yet: send a prompt first.")
        conversation, shown = self.place
        source = source or shown
        live = self.runs.live((conversation, source))
        if after and live is not None and turn >= live.turn:
            raise UserError(f"Turn {live.turn} is being answered: fork after it when it is done, or before it.")
        async with self.store.session(conversation) as session:
            try:
                branch_id = await session.fork(
                    turn,
                    kind="after" if after else "before",
                    source=source,
                    title=" ".join(title.split()),
                    title_source="manual" if title.strip() else "none",
                )
            except ValueError as error:
                count = await self.store.turn_count(conversation, source)
                raise UserError(f"There is no turn {turn} to fork on this branch; it has {count}.") from error
        self._undo.push("forked", lambda: self._unfork(conversation, branch_id, shown))
        return branch_id

    async def _unfork(self, conversation: str, branch_id: str, source: str) -> None:
        await self.runs.stop((conversation, branch_id), drop_queue=True)
        async with self.store.session(conversation) as session:
            await session.bin_branch(branch_id)
        if self.place == (conversation, branch_id):
            await self._show_branch(source)
        else:
            await self._refresh("tree")

    async def _show_branch(self, branch_id: str) -> None:
        async with self.session() as session:
            await session.switch_to_branch(branch_id)
            await session.mark_unread(branch_id, False)
        self._branch_id = branch_id
        await self._refresh("place")

    async def switch(self, branch: str) -> None:
        """Show another branch, by ID or title. Raises ``UserError`` when there is none or several."""
        if not self._stored and branch.strip() == "main":
            return
        await self._show_branch(self._resolve(branch))

    def _resolve(self, branch: str) -> str:
        found = tree_views.resolve_branch(self._branches, branch)
        if found is None and tree_views.is_ambiguous(self._branches, branch):
            raise UserError(f"“{branch}” fits several branches: choose one in Branches.")
        if found is None:
            raise UserError(f"There is no branch “{branch}” here. /branches lists them.")
        return found

    def _branch(self, branch_id: str) -> Branch:
        return next(branch for branch in self._branches if branch.branch_id == branch_id)

    async def sibling(self, step: int) -> None:
        """Show the next (1) or previous (-1) branch that parts at the same place, round and round."""
        group = tree_views.siblings(self._branches, self._branch_id)
        if len(group) < 2:
            raise UserError("This branch has no siblings yet: fork a turn with f.")
        place = group.index(self._branch_id) if self._branch_id in group else 0
        await self._show_branch(group[(place + step) % len(group)])

    async def sibling_at(self, turn: int, step: int) -> None:
        """Show the next or previous of the branches that part at that very turn."""
        shown = await self._turn(turn)
        group = shown.siblings
        if len(group) < 2:
            raise UserError(f"Turn {turn} has no siblings yet: fork it with f.")
        place = group.index(self._branch_id) if self._branch_id in group else 0
        await self._show_branch(group[(place + step) % len(group)])

    async def parent(self) -> None:
        """Show the parent branch."""
        path = tree_views.ancestors(self._branches, self._branch_id)
        if len(path) < 2:
            raise UserError("This branch has no parent.")
        await self._show_branch(path[1])

    async def child(self) -> None:
        """Show the first child branch."""
        child = next((b for b in self._branches if b.parent == self._branch_id), None)
        if child is None:
            raise UserError("This branch has no children yet: fork a turn with f.")
        await self._show_branch(child.branch_id)

    async def _turn(self, turn: int) -> Turn:
        if self._stored:
            found = await self.store.turn(*self.place, turn)
            if found is not None:
                return found
        raise UserError(f"There is no turn {turn} on this branch.")

    async def _prompt(self, turn: int) -> str:
        from advchat.controller.item_views import text_of  # noqa: PLC0415 - keeps the name out of the module

        items = (await self._turn(turn)).items
        return text_of(items[0].get("content")) if items else ""

    async def edit(self, turn: int) -> str:
        """Fork before the turn and give its prompt, to be changed and sent on the new branch."""
        prompt = await self._prompt(turn)
        await self.fork(turn)
        return prompt

    async def regenerate(self, turn: int) -> None:
        """Ask the same again on a new sibling, at once."""
        prompt = await self._prompt(turn)
        await self.fork(turn)
        await self.send(prompt)

    async def continue_turn(self, turn: int) -> None:
        """Go on after an answer that was stopped, interrupted or cut short."""
        if turn != (await self._last_turn()).turn:
            raise UserError("Only the newest turn can be continued; fork after this one instead.")
        await self._keep_partial(turn)
        await self.send(CONTINUE_PROMPT)

    async def retry_turn(self, turn: int) -> None:
        """Answer the prompt again: in place while it has no answer, else on a new sibling."""
        shown = await self._turn(turn)
        await self._keep_partial(turn)
        shown = await self._turn(turn)
        newest = shown.turn == (await self._last_turn()).turn
        if len(shown.items) > 1 or not newest:
            await self.regenerate(turn)
            return
        prompt = await self._prompt(turn)
        await self.runs.resume(self.place, prompt, turn, shown.message_id, model=self._model)

    async def _last_turn(self) -> Turn:
        return await self._last_turn_of(self._branch_id)

    async def _last_turn_of(self, branch_id: str) -> Turn:
        place = (self._conversation_id, branch_id)
        count = await self.store.turn_count(*place)
        turns = await self.store.turns(*place, max(0, count - 1), count)
        if not turns:
            raise UserError("This branch has no turns yet.")
        return turns[-1]

    async def _keep_partial(self, turn: int) -> None:
        entry = await self._interrupted(turn)
        if entry is not None:
            await self.store.resolve_interrupted(entry, "keep")

    async def _interrupted(self, turn: int) -> str | None:
        for entry in await self.store.interrupted(self._conversation_id):
            if entry.branch_id == self._branch_id and entry.turn == turn:
                return entry.run_id
        return None

    async def discard_partial(self, turn: int) -> None:
        """Drop what an interrupted run left of its answer; the prompt stays."""
        entry = await self._interrupted(turn)
        if entry is not None:
            await self.store.resolve_interrupted(entry, "discard")
        await self._refresh("turns")

    async def rename_branch(self, branch: str, title: str) -> None:
        """Give a branch a title that no automatic one replaces."""
        new = " ".join(title.split())
        if not new:
            raise UserError("A branch's title cannot be empty.")
        branch_id = self._resolve(branch)
        old = self._branch(branch_id)
        conversation = self._conversation_id
        await self._set_title(conversation, branch_id, new, "manual")
        self._undo.push(
            f"renamed “{branch_label(branch_id, old.title)}”",
            lambda: self._set_title(conversation, branch_id, old.title, old.title_source),
        )

    async def _set_title(self, conversation: str, branch_id: str, title: str, source: TitleSource) -> None:
        async with self.store.session(conversation) as session:
            if source == "auto":
                # Taking a title back that was given: an automatic one replaces none of those by itself.
                await session.rename_branch(branch_id, "", source="none")
            await session.rename_branch(branch_id, title, source=source)
        await self._refresh("tree")

    async def delete_branch(self, branch: str) -> None:
        """Put a branch into the bin, its run stopped first. Raises ``UserError`` for ``main``."""
        branch_id = self._resolve(branch)
        if branch_id == "main":
            raise UserError("The main branch cannot be deleted.")
        conversation = self._conversation_id
        was_shown = branch_id == self._branch_id
        name = branch_name(self._branches, branch_id)
        path = tree_views.ancestors(self._branches, branch_id)
        await self.runs.stop((conversation, branch_id), drop_queue=True)
        async with self.store.session(conversation) as session:
            await session.bin_branch(branch_id)
        self._undo.push(f"deleted “{name}”", lambda: self._restore(conversation, branch_id, was_shown))
        if was_shown:
            await self._show_branch(path[1] if len(path) > 1 else "main")
        else:
            await self._refresh("tree")

    async def restore_branch(self, branch_id: str) -> None:
        """Take a branch out of the bin, also after a restart."""
        await self._restore(self._conversation_id, branch_id, False)

    async def _restore(self, conversation: str, branch_id: str, show: bool) -> None:
        async with self.store.session(conversation) as session:
            await session.restore_branch(branch_id)
        if show and conversation == self._conversation_id:
            await self._show_branch(branch_id)
        else:
            await self._refresh("tree")

    async def pin_branch(self, branch: str) -> None:
        """Pin a branch to the top of its siblings, or let it go."""
        branch_id = self._resolve(branch)
        async with self.session() as session:
            await session.pin_branch(branch_id, not self._branch(branch_id).pinned)
        await self._refresh("tree")

    async def undo(self) -> str:
        """Take the newest step back and tell which; without one, restore what was binned last."""
        label = await self._undo.undo()
        if label is not None:
            await self._refresh("tree")
            return label
        binned = sorted(self._snapshot.binned, key=lambda branch: branch.binned_at or "")
        if not binned:
            raise UserError("There is nothing to undo.")
        await self.restore_branch(binned[-1].branch_id)
        return f"deleted “{branch_label(binned[-1].branch_id, binned[-1].title)}”"
