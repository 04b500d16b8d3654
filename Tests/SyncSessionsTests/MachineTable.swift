/// What every state becomes of every event: what it usually becomes, and after which events something else.
extension MachineTableTests {
    static let expected: [String: (usually: String, otherwise: [String: String])] = [
        "inactive": (
            "inactive",
            [
                "start": "active",
                "suspend download": "inactive, without download",
                "suspend": "inactive, without both",
                "wait upload": "inactive, wait ended",
                "wait upload of nothing": "inactive, wait ended",
                "wait download": "inactive, wait ended",
                "fail": "failed",
                "close": "closed",
            ]
        ),
        "loading": (
            "active",
            [
                "load, reset": "active, connecting, begin reset 0 1",
                "load": "active, wakes 400.0",
                "load suspended": "suspended, without both",
                "suspend download": "active, without download",
                "suspend": "suspended, without both",
                "wait upload of nothing": "active, wait done",
                "fail": "failed",
                "close": "closed",
            ]
        ),
        "idle": (
            "active, wakes 400.0",
            [
                "server reset": "active, connecting, begin reset 0 1",
                "start": "active",
                "change": "active, wakes 100.5",
                "news of B": "active, connecting, begin 1",
                "news": "active, connecting, begin 0 1",
                "ask upload": "active, connecting, begin push",
                "ask both": "active, connecting, begin push 0 1",
                "suspend download": "active, without download",
                "suspend": "suspended, without both",
                "reconnect": "active, connecting, begin 0 1",
                "pushed, newer": "active, wakes 100.5",
                "wait upload": "active, connecting, begin push",
                "wait upload of nothing": "active, wakes 400.0, wait done",
                "wait download": "active, connecting, begin 0 1",
                "fail": "failed",
                "close": "closed",
            ]
        ),
        "changed": (
            "active, wakes 100.5",
            [
                "server reset": "active, connecting, begin reset 0 1",
                "start": "active",
                "news of B": "active, connecting, begin push 1",
                "news": "active, connecting, begin push 0 1",
                "ask upload": "active, connecting, begin push",
                "ask both": "active, connecting, begin push 0 1",
                "suspend download": "active, without download, wakes 100.5",
                "suspend": "suspended, without both",
                "reconnect": "active, connecting, begin push 0 1",
                "pushed": "active, wakes 400.0",
                "wait upload": "active, connecting, begin push",
                "wait upload of nothing": "active, wakes 100.5, wait done",
                "wait download": "active, connecting, begin push 0 1",
                "fail": "failed",
                "close": "closed",
            ]
        ),
        "working": (
            "active, connecting",
            [
                "server reset": "active, connecting, cancel",
                "end: history lost": "active, connecting, begin reset 0 1",
                "suspend download": "active, connecting, without download, cancel",
                "suspend": "suspended, without both, cancel",
                "answer": "active, connected",
                "end": "active, connecting, begin push 0",
                "end: cancelled": "active, connecting, begin push 0",
                "end: unreachable": "backingOff 101, wakes 101.0",
                "end: credentials": "waitingForCredentials, connected, wakes 101.0",
                "end: permanent": "failed",
                "end: store closed": "closed",
                "wait upload of nothing": "active, connecting, wait done",
                "fail": "failed, cancel",
                "close": "closed, cancel",
            ]
        ),
        "backing off": (
            "backingOff 101, wakes 101.0",
            [
                "start": "active",
                "network up": "active, connecting, begin push",
                "obstacle gone": "active, connecting, begin push",
                "suspend download": "backingOff 101, without download, wakes 101.0",
                "suspend": "suspended, without both",
                "reconnect": "active, connecting, begin push 0 1",
                "pushed": "active, wakes 400.0",
                "wait upload of nothing": "backingOff 101, wakes 101.0, wait done",
                "fail": "failed",
                "close": "closed",
            ]
        ),
        "ordered off": (
            "backingOff 160, connected, wakes 160.0",
            [
                "start": "active, connected",
                "network down": "backingOff 160, wakes 160.0",
                "suspend download": "backingOff 160, connected, without download, wakes 160.0",
                "suspend": "suspended, without both",
                "reconnect": "active, connected, begin push",
                "pushed": "active, connected, wakes 400.0",
                "wait upload of nothing": "backingOff 160, connected, wakes 160.0, wait done",
                "fail": "failed",
                "close": "closed",
            ]
        ),
        "signed out": (
            "waitingForCredentials, connected, wakes 101.0",
            [
                "start": "active, connected",
                "network up": "active, connected, begin push",
                "obstacle gone": "active, connected, begin push",
                "network down": "waitingForCredentials, wakes 101.0",
                "suspend download": "waitingForCredentials, connected, without download, wakes 101.0",
                "suspend": "suspended, without both",
                "reconnect": "active, connected, begin push",
                "pushed": "active, connected, wakes 400.0",
                "wait upload of nothing": "waitingForCredentials, connected, wakes 101.0, wait done",
                "fail": "failed",
                "close": "closed",
            ]
        ),
        "upload off": (
            "active, without upload, wakes 400.0",
            [
                "server reset": "active, connecting, without upload, begin reset 0 1",
                "start": "active, without upload",
                "news of B": "active, connecting, without upload, begin 1",
                "news": "active, connecting, without upload, begin 0 1",
                "ask both": "active, connecting, without upload, begin 0 1",
                "suspend download": "suspended, without both",
                "suspend": "suspended, without both",
                "resume": "active, wakes 100.5",
                "reconnect": "active, connecting, without upload, begin 0 1",
                "wait upload": "active, without upload, wakes 400.0, wait ended",
                "wait upload of nothing": "active, without upload, wakes 400.0, wait ended",
                "wait download": "active, connecting, without upload, begin 0 1",
                "fail": "failed, without upload",
                "close": "closed, without upload",
            ]
        ),
        "suspended": (
            "suspended, without both",
            [
                "resume": "active, wakes 100.5",
                "wait upload": "suspended, without both, wait ended",
                "wait upload of nothing": "suspended, without both, wait ended",
                "wait download": "suspended, without both, wait ended",
                "fail": "failed, without both",
                "close": "closed, without both",
            ]
        ),
        "resetting": (
            "active, connecting",
            [
                "server reset": "active, connecting, cancel",
                "suspend download": "active, connecting, without download, cancel",
                "suspend": "suspended, without both, cancel",
                "answer": "active, connected",
                "end": "active, connecting, begin reset 0 1",
                "end: cancelled": "active, connecting, begin reset 0 1",
                "end: unreachable": "backingOff 101, wakes 101.0",
                "end: credentials": "waitingForCredentials, connected, wakes 101.0",
                "end: history lost": "backingOff 101, connected, wakes 101.0",
                "end: store closed": "closed",
                "end: permanent": "failed",
                "wait upload of nothing": "active, connecting, wait done",
                "fail": "failed, cancel",
                "close": "closed, cancel",
            ]
        ),
        "away for too long": (
            "active, connecting",
            [
                "server reset": "active, connecting, cancel",
                "suspend download": "active, connecting, without download, cancel",
                "suspend": "suspended, without both, cancel",
                "answer": "active, connected",
                "end": "active, connecting, begin reset 0 1",
                "end: cancelled": "active, connecting, begin reset 0 1",
                "end: unreachable": "backingOff 101, wakes 101.0",
                "end: credentials": "waitingForCredentials, connected, wakes 101.0",
                "end: history lost": "backingOff 101, connected, wakes 101.0",
                "end: store closed": "closed",
                "end: permanent": "failed",
                "wait upload of nothing": "active, connecting, wait done",
                "fail": "failed, cancel",
                "close": "closed, cancel",
            ]
        ),
        "reset without download": (
            "active, without download",
            [
                "suspend": "suspended, without both",
                "resume": "active, connecting, begin reset 0 1",
                "wait upload of nothing": "active, without download, wait done",
                "wait download": "active, without download, wait ended",
                "fail": "failed, without download",
                "close": "closed, without download",
            ]
        ),
        "failed for a reset": (
            "failed",
            [
                "start": "active",
                "suspend download": "failed, without download",
                "suspend": "failed, without both",
                "wait upload": "failed, wait ended",
                "wait upload of nothing": "failed, wait ended",
                "wait download": "failed, wait ended",
                "close": "closed",
            ]
        ),
        "failed": (
            "failed",
            [
                "start": "active",
                "suspend download": "failed, without download",
                "suspend": "failed, without both",
                "wait upload": "failed, wait ended",
                "wait upload of nothing": "failed, wait ended",
                "wait download": "failed, wait ended",
                "close": "closed",
            ]
        ),
        "closed": (
            "closed",
            [
                "wait upload": "closed, wait ended",
                "wait upload of nothing": "closed, wait ended",
                "wait download": "closed, wait ended",
            ]
        ),
    ]
}
