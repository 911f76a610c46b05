"""The routes of the review page."""

from __future__ import annotations

import os
from collections.abc import Awaitable, Callable, Mapping
from urllib.parse import parse_qsl, urlsplit

from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import HTMLResponse, PlainTextResponse, RedirectResponse, Response
from starlette.routing import Route

from spamnb.errors import DataError, NoInput, SpamnbError
from spamnb.files import complain, state_folder
from spamnb.history.queries import History, is_number
from spamnb.pages.elements import element
from spamnb.review.context import SCRIPT, STYLE, PageContext, heading, note, own_file, url
from spamnb.review.corrections import correct, undo
from spamnb.review.course import course_page
from spamnb.review.cutoff import cutoff_page, save_cutoff
from spamnb.review.guard import FRAME_POLICY, Guard, Secrets, own_address, read_form
from spamnb.review.inbox import inbox_page, updated_rows
from spamnb.review.why import framed_html, why_page

Form = dict[str, list[str]]
MAX_WAIT = 1.0  # seconds for which a page waits for new verdicts; more are gathered in the background


class Pages:
    """All pages of the review server; they show the history in `folder` (None: the user's own)."""

    def __init__(self, folder: str | None, model: str, secrets: Secrets) -> None:
        self.folder = folder
        self.model = model
        self.secrets = secrets

    def history(self) -> History:
        """Open the history; raise an error if its folder was removed, since opening creates a missing one."""
        folder = self.folder or state_folder("history")
        if not os.path.isdir(folder):
            raise NoInput("the history was removed; end `spamnb review` with Ctrl-C in its terminal")
        return History.open(folder)

    def app(self, hosts: frozenset[str], cookie: str) -> Guard:
        routes = [
            Route("/", self.view(inbox_page)),
            Route("/course", self.view(course_page)),
            Route("/cutoff", self.view(cutoff_page)),
            Route("/message/{id:int}", self.view(why_page)),
            Route("/message/{id:int}/html", self.view(framed_html, FRAME_POLICY)),
            Route("/correct", self.change(corrected), methods=["POST"]),
            Route("/cutoff", self.change(cutoff_saved), methods=["POST"]),
            Route(f"/files/{STYLE}", static("text/css", STYLE)),
            Route(f"/files/{SCRIPT}", static("text/javascript", SCRIPT)),
        ]
        handlers = {SpamnbError: self.failure, 404: self.failure, Exception: self.unexpected}
        pages = Starlette(routes=routes, exception_handlers=handlers)
        pages.router.redirect_slashes = False
        return Guard(pages, self.secrets, hosts, cookie)

    def context(self, history: History, request: Request, query: Mapping[str, str]) -> PageContext:
        return PageContext(history, self.secrets, self.model, request.url.path, query)

    def view(self, page: Callable[..., str], policy: str | None = None) -> Callable[[Request], Response]:
        """Return a request handler that copies new verdicts into the history, then answers with `page`."""
        headers = {"content-security-policy": policy} if policy else None

        def endpoint(request: Request) -> Response:
            with self.history() as history:
                history.gather(seconds=MAX_WAIT)
                made = page(
                    self.context(history, request, request.query_params), *request.path_params.values()
                )
                return html(made, headers=headers)

        return endpoint

    def change(
        self, action: Callable[[PageContext, Form], Response]
    ) -> Callable[[Request], Awaitable[Response]]:
        """Return a handler of form posts; it calls `action` with the context of the page to show next."""

        async def endpoint(request: Request) -> Response:
            form = await read_form(request, self.secrets)
            return await run_in_threadpool(in_thread, request, form)

        def in_thread(request: Request, form: Form) -> Response:
            with self.history() as history:
                asked = dict(parse_qsl(urlsplit(return_address(form)).query))
                return action(self.context(history, request, asked), form)

        return endpoint

    def failure(self, request: Request, error: Exception) -> Response:
        """Answer with a page about an error; to review.js only its element with the id `failure` matters."""
        why = str(error) if isinstance(error, SpamnbError) else "there is no such page"
        try:
            with self.history() as history:
                context = self.context(history, request, request.query_params)
                failed = note(element("span", why, id="failure"))
                page = context.page("Not possible", heading("That did not work"), failed)
                return html(page, 409 if isinstance(error, SpamnbError) else 404)
        except SpamnbError:
            return PlainTextResponse(f"{why}\n", 500)

    def unexpected(self, request: Request, error: Exception) -> Response:
        complain(f"unexpected error at {request.url.path}: {error.__class__.__name__}: {error}")
        return self.failure(
            request, SpamnbError("an unexpected error; the terminal of `spamnb review` shows it")
        )


def html(page: str, status: int = 200, headers: dict[str, str] | None = None) -> Response:
    return HTMLResponse(page.encode("utf-8", "replace"), status, headers)


def corrected(context: PageContext, form: Form) -> Response:
    """Correct messages or undo corrections; answer our script with the changed rows, else redirect."""
    match form:
        case {"one": [mark]}:
            id_, _, label = mark.partition(":")
            ids = checked_ids([id_])
            correct(context.history, ids, label)
        case {"undo": [id_]}:
            ids = checked_ids([id_])
            undo(context.history, ids)
        case {"all": [label], "id": texts}:
            ids = checked_ids(texts)
            correct(context.history, ids, label)
        case _:
            raise DataError("nothing was selected; select a message first")
    if "rows" in form:
        return html(updated_rows(context, ids))
    return RedirectResponse(f"{return_address(form)}#m{ids[0]}", 303)


def return_address(form: Form) -> str:
    """Return the address to show after a form: its field `back`, or "/" if `back` is no page of ours."""
    return own_address(form.get("back", ["/"])[0])


def checked_ids(texts: list[str]) -> list[int]:
    if not all(map(is_number, texts)):
        raise DataError("nothing was selected; select a message first")
    return [int(text) for text in texts]


def cutoff_saved(context: PageContext, form: Form) -> Response:
    before = context.model.stored.head["ham_loss"]
    save_cutoff(context, form.get("loss", [""])[0])
    return RedirectResponse(url("/cutoff", before=str(before)), 303)


def static(kind: str, name: str) -> Callable[[Request], Response]:
    """Return a handler for a file. Browsers may cache it, because its address changes with its content."""
    headers = {"cache-control": "private, max-age=31536000, immutable"}
    return lambda _request: Response(own_file(name), media_type=kind, headers=headers)
