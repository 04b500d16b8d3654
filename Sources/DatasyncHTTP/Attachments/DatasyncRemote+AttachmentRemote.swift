public import RemoteContract

/// What the context asks for when files are to travel to the service of the rows.
extension DatasyncRemote: AttachmentRemote {}
