"""A server that kills its process between the commit of an order and the answer to it."""

import os
import signal

import uvicorn
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from api.app import create_app
from api.http.protocol import GearProtocol
from api.settings import Settings


class DiesBeforeTheResponse:
    """The app; where it would begin to answer an order with 201, the process is gone."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Passes everything on but that answer."""

        async def send_or_die(message: Message) -> None:
            if message["type"] == "http.response.start" and message["status"] == 201:
                os.kill(os.getpid(), signal.SIGKILL)
            await send(message)

        await self.app(scope, receive, send_or_die)


def serve_and_die(_command: str) -> None:
    """In the place of `gear-api serve`."""
    settings = Settings()
    app = DiesBeforeTheResponse(create_app(settings))
    uvicorn.run(app, port=settings.api_port, http=GearProtocol, log_config=None, access_log=False)
