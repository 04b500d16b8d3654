// What is asked of libsecret, in C: its calls take lists of any length and types that are macros. Every call has a
// connection to the bus of its own. The one that GLib shares would outlive a daemon that is started anew, and would end the
// process together with the bus.
#include <libsecret/secret.h>
#include <string.h>

typedef enum {
    csecret_done,
    csecret_missing,
    csecret_locked,
    csecret_other_size,
    csecret_cancelled,
    csecret_unavailable,
} csecret_outcome;

// Who may ask for what, and on which bus: a null address stands for that of the session.
typedef struct {
    const char *address;
    const char *store;
    const char *slot;
    int may_prompt;
    GCancellable *cancellable;
} csecret_request;

typedef struct {
    GMainContext *context;
    GDBusConnection *bus;
    SecretService *service;
    GHashTable *attributes;
} csecret_session;

static inline const SecretSchema *csecret_schema(void) {
    static const SecretSchema schema = {
        "SealedSync.StoreKey", SECRET_SCHEMA_NONE,
        { { "store", SECRET_SCHEMA_ATTRIBUTE_STRING }, { "slot", SECRET_SCHEMA_ATTRIBUTE_STRING } },
        0, 0, 0, 0, 0, 0, 0, 0,
    };
    return &schema;
}

// libsecret's proxy asks for the shared connection when it is made. This one takes that back, and uses its own.
static inline GObject *csecret_construct(GType type, guint count, GObjectConstructParam *properties) {
    GObjectClass *parent = g_type_class_peek(SECRET_TYPE_SERVICE);
    GObject *object = parent->constructor(type, count, properties);
    g_object_set(object, "g-bus-type", G_BUS_TYPE_NONE, NULL);
    return object;
}

static inline void csecret_prepare_class(gpointer type_class, gpointer unused) {
    (void)unused;
    G_OBJECT_CLASS(type_class)->constructor = csecret_construct;
}

static inline GType csecret_service_type(void) {
    static gsize type = 0;
    if (g_once_init_enter(&type)) {
        GTypeInfo information;
        memset(&information, 0, sizeof information);
        information.class_size = sizeof(SecretServiceClass);
        information.class_init = csecret_prepare_class;
        information.instance_size = sizeof(SecretService);
        g_once_init_leave(
            &type, g_type_register_static(SECRET_TYPE_SERVICE, "SealedSyncSecretService", &information, 0));
    }
    return type;
}

// The message is the caller's, to be freed with g_free.
static inline csecret_outcome csecret_failed(GError *error, char **message) {
    csecret_outcome outcome = csecret_unavailable;
    if (g_error_matches(error, G_IO_ERROR, G_IO_ERROR_CANCELLED)) outcome = csecret_cancelled;
    if (g_error_matches(error, SECRET_ERROR, SECRET_ERROR_IS_LOCKED)) outcome = csecret_locked;
    *message = g_strdup(error ? error->message : "");
    g_clear_error(&error);
    return outcome;
}

static inline csecret_outcome csecret_begin(const csecret_request *request, csecret_session *session, char **message) {
    GError *error = NULL;
    memset(session, 0, sizeof *session);
    // What the bus has to say to this connection waits here and disturbs no other loop of the thread's.
    session->context = g_main_context_new();
    g_main_context_push_thread_default(session->context);
    char *address = request->address
        ? g_strdup(request->address)
        : g_dbus_address_get_for_bus_sync(G_BUS_TYPE_SESSION, request->cancellable, &error);
    if (!address) return csecret_failed(error, message);
    session->bus = g_dbus_connection_new_for_address_sync(
        address, G_DBUS_CONNECTION_FLAGS_AUTHENTICATION_CLIENT | G_DBUS_CONNECTION_FLAGS_MESSAGE_BUS_CONNECTION, NULL,
        request->cancellable, &error);
    g_free(address);
    if (!session->bus) return csecret_failed(error, message);
    session->service = g_initable_new(
        csecret_service_type(), request->cancellable, &error, "g-connection", session->bus, "flags",
        SECRET_SERVICE_OPEN_SESSION, NULL);
    if (!session->service) return csecret_failed(error, message);
    session->attributes =
        secret_attributes_build(csecret_schema(), "store", request->store, "slot", request->slot, NULL);
    return csecret_done;
}

static inline void csecret_end(csecret_session *session) {
    if (session->attributes) g_hash_table_unref(session->attributes);
    g_clear_object(&session->service);
    if (session->bus) g_dbus_connection_close_sync(session->bus, NULL, NULL);
    g_clear_object(&session->bus);
    g_main_context_pop_thread_default(session->context);
    g_main_context_unref(session->context);
}

// Whether an item can be put into the default collection without anybody being asked.
static inline csecret_outcome csecret_check_open(
    const csecret_request *request, const csecret_session *session, char **message) {
    GError *error = NULL;
    SecretCollection *collection = secret_collection_for_alias_sync(
        session->service, SECRET_COLLECTION_DEFAULT, SECRET_COLLECTION_NONE, request->cancellable, &error);
    if (error) return csecret_failed(error, message);
    int is_locked = !collection || secret_collection_get_locked(collection);
    g_clear_object(&collection);
    return is_locked ? csecret_locked : csecret_done;
}

static inline csecret_outcome csecret_store(
    const csecret_request *request, const char *label, const void *bytes, gssize count, char **message) {
    csecret_session session;
    GError *error = NULL;
    csecret_outcome outcome = csecret_begin(request, &session, message);
    if (outcome == csecret_done && !request->may_prompt) outcome = csecret_check_open(request, &session, message);
    if (outcome == csecret_done) {
        SecretValue *value = secret_value_new(bytes, count, "application/octet-stream");
        gboolean is_stored = secret_service_store_sync(
            session.service, csecret_schema(), session.attributes, SECRET_COLLECTION_DEFAULT, label, value,
            request->cancellable, &error);
        secret_value_unref(value);
        // A prompt that was refused is no error, and nothing is stored.
        if (error) outcome = csecret_failed(error, message);
        else if (!is_stored) outcome = csecret_locked;
    }
    csecret_end(&session);
    return outcome;
}

static inline csecret_outcome csecret_lookup(
    const csecret_request *request, void *bytes, gsize count, char **message) {
    csecret_session session;
    GError *error = NULL;
    csecret_outcome outcome = csecret_begin(request, &session, message);
    if (outcome == csecret_done) {
        int flags = SECRET_SEARCH_LOAD_SECRETS | (request->may_prompt ? SECRET_SEARCH_UNLOCK : SECRET_SEARCH_NONE);
        GList *items = secret_service_search_sync(
            session.service, csecret_schema(), session.attributes, (SecretSearchFlags)flags, request->cancellable,
            &error);
        if (error) {
            outcome = csecret_failed(error, message);
        } else if (!items) {
            outcome = csecret_missing;
        } else {
            SecretValue *value = secret_item_get_secret(items->data);
            gsize found = 0;
            const char *content = value ? secret_value_get(value, &found) : NULL;
            if (!value) outcome = csecret_locked;
            else if (found != count) outcome = csecret_other_size;
            else memcpy(bytes, content, count);
            if (value) secret_value_unref(value);
        }
        g_list_free_full(items, g_object_unref);
    }
    csecret_end(&session);
    return outcome;
}

// Deletes the item, if there is one.
static inline csecret_outcome csecret_clear(const csecret_request *request, char **message) {
    csecret_session session;
    GError *error = NULL;
    csecret_outcome outcome = csecret_begin(request, &session, message);
    if (outcome == csecret_done && !request->may_prompt) outcome = csecret_check_open(request, &session, message);
    if (outcome == csecret_done) {
        secret_service_clear_sync(
            session.service, csecret_schema(), session.attributes, request->cancellable, &error);
        if (error) outcome = csecret_failed(error, message);
    }
    csecret_end(&session);
    return outcome;
}
