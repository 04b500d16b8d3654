// One import is enough for an app: everything it needs comes with this module.
@_exported public import Attachments
@_exported public import DatasyncHTTP
@_exported public import HTTPTransport
@_exported public import ItemCoding
@_exported public import OfflineSync
@_exported public import QueryEvaluation
@_exported public import RemoteContract
@_exported public import SQLCipherMaintenance
@_exported public import SQLCipherStore
@_exported public import SecretMemory
@_exported public import StoreKeys
@_exported public import SyncContract
@_exported public import SyncSessions
