// What of libcurl Swift cannot call as it is: functions with a variable number of arguments, one for each class of
// argument, and what is written as macros. Each refuses options of another class, which would crash.

#ifndef SEALEDSYNC_CCURL_H
#define SEALEDSYNC_CCURL_H

// Makes handles incomplete structures instead of `void`, so that one cannot be taken for another.
#define CURL_STRICTER 1
#include <curl/curl.h>
#include <stdbool.h>
#include <sys/eventfd.h>
#include <sys/socket.h>

#if LIBCURL_VERSION_NUM < 0x075000
#error "libcurl 7.80 or later is needed: CURLOPT_PREREQFUNCTION tells how often a request was sent"
#endif

static inline CURLcode ccurl_global_init(void) { return curl_global_init(CURL_GLOBAL_DEFAULT); }

static inline int ccurl_option_class(CURLoption option) { return (int)option / 10000; }

static inline CURLcode ccurl_set_long(CURL *handle, CURLoption option, long value) {
    if (ccurl_option_class(option) != 0) return CURLE_BAD_FUNCTION_ARGUMENT;
    return curl_easy_setopt(handle, option, value);
}

static inline CURLcode ccurl_set_offset(CURL *handle, CURLoption option, curl_off_t value) {
    if (ccurl_option_class(option) != 3) return CURLE_BAD_FUNCTION_ARGUMENT;
    return curl_easy_setopt(handle, option, value);
}

// Strings are copied by libcurl, but for the few options that say otherwise.
static inline CURLcode ccurl_set_string(CURL *handle, CURLoption option, const char *value) {
    if (ccurl_option_class(option) != 1) return CURLE_BAD_FUNCTION_ARGUMENT;
    return curl_easy_setopt(handle, option, value);
}

static inline CURLcode ccurl_set_pointer(CURL *handle, CURLoption option, void *value) {
    if (ccurl_option_class(option) != 1) return CURLE_BAD_FUNCTION_ARGUMENT;
    return curl_easy_setopt(handle, option, value);
}

static inline CURLcode ccurl_set_header_list(CURL *handle, struct curl_slist *list) {
    return curl_easy_setopt(handle, CURLOPT_HTTPHEADER, list);
}

// The body of the request, copied; its length has to be known first.
static inline CURLcode ccurl_set_body(CURL *handle, const void *bytes, curl_off_t count) {
    CURLcode code = curl_easy_setopt(handle, CURLOPT_POSTFIELDSIZE_LARGE, count);
    if (code != CURLE_OK) return code;
    return curl_easy_setopt(handle, CURLOPT_COPYPOSTFIELDS, count > 0 ? (const char *)bytes : "");
}

typedef size_t (*ccurl_receiver)(char *bytes, size_t size, size_t count, void *context);

// The body of the request, asked for piece by piece; an earlier body that was given as a whole is forgotten.
static inline CURLcode ccurl_set_source(CURL *handle, ccurl_receiver source, void *context, curl_off_t count) {
    CURLcode code = curl_easy_setopt(handle, CURLOPT_POSTFIELDS, NULL);
    if (code == CURLE_OK) code = curl_easy_setopt(handle, CURLOPT_POST, 1L);
    if (code == CURLE_OK) code = curl_easy_setopt(handle, CURLOPT_POSTFIELDSIZE_LARGE, count);
    if (code == CURLE_OK) code = curl_easy_setopt(handle, CURLOPT_READFUNCTION, source);
    if (code == CURLE_OK) code = curl_easy_setopt(handle, CURLOPT_READDATA, context);
    return code;
}

// What is told of each line of a head and each piece of a body.
static inline CURLcode ccurl_set_receivers(CURL *handle, ccurl_receiver head, ccurl_receiver body, void *context) {
    CURLcode code = curl_easy_setopt(handle, CURLOPT_HEADERFUNCTION, head);
    if (code == CURLE_OK) code = curl_easy_setopt(handle, CURLOPT_HEADERDATA, context);
    if (code == CURLE_OK) code = curl_easy_setopt(handle, CURLOPT_WRITEFUNCTION, body);
    if (code == CURLE_OK) code = curl_easy_setopt(handle, CURLOPT_WRITEDATA, context);
    return code;
}

// What is asked each time before a request is written to a connection; false ends the transfer instead.
typedef bool (*ccurl_sending)(void *context);

struct ccurl_sending_context {
    ccurl_sending function;
    void *context;
};

static int ccurl_before_request(void *data, char *remote_ip, char *local_ip, int remote_port, int local_port) {
    (void)remote_ip; (void)local_ip; (void)remote_port; (void)local_port;
    struct ccurl_sending_context *sending = (struct ccurl_sending_context *)data;
    return sending->function(sending->context) ? CURL_PREREQFUNC_OK : CURL_PREREQFUNC_ABORT;
}

// The context has to stay where it is until the transfer has ended.
static inline CURLcode ccurl_set_sending(CURL *handle, struct ccurl_sending_context *sending) {
    CURLcode code = curl_easy_setopt(handle, CURLOPT_PREREQFUNCTION, ccurl_before_request);
    if (code == CURLE_OK) code = curl_easy_setopt(handle, CURLOPT_PREREQDATA, sending);
    return code;
}

// Sockets that child processes do not inherit.
static curl_socket_t ccurl_open_socket(void *context, curlsocktype purpose, struct curl_sockaddr *address) {
    (void)context; (void)purpose;
#ifdef SOCK_CLOEXEC
    return socket(address->family, address->socktype | SOCK_CLOEXEC, address->protocol);
#else
    return socket(address->family, address->socktype, address->protocol);
#endif
}

static inline CURLcode ccurl_set_private_sockets(CURL *handle) {
    return curl_easy_setopt(handle, CURLOPT_OPENSOCKETFUNCTION, ccurl_open_socket);
}

// HTTP and TLS only, whatever else the library was built with.
static inline CURLcode ccurl_set_protocols(CURL *handle) {
#if LIBCURL_VERSION_NUM >= 0x075500
    return curl_easy_setopt(handle, CURLOPT_PROTOCOLS_STR, "http,https");
#else
    return curl_easy_setopt(handle, CURLOPT_PROTOCOLS, (long)(CURLPROTO_HTTP | CURLPROTO_HTTPS));
#endif
}

// Lets a transfer be given up while its name is being looked up, without waiting for the look-up.
static inline CURLcode ccurl_set_quick_exit(CURL *handle) {
#if LIBCURL_VERSION_NUM >= 0x075700
    return curl_easy_setopt(handle, CURLOPT_QUICK_EXIT, 1L);
#else
    (void)handle;
    return CURLE_OK;
#endif
}

static inline CURLcode ccurl_get_long(CURL *handle, CURLINFO information, long *value) {
    if (((int)information & CURLINFO_TYPEMASK) != CURLINFO_LONG) return CURLE_BAD_FUNCTION_ARGUMENT;
    return curl_easy_getinfo(handle, information, value);
}

static inline CURLcode ccurl_get_offset(CURL *handle, CURLINFO information, curl_off_t *value) {
    if (((int)information & CURLINFO_TYPEMASK) != CURLINFO_OFF_T) return CURLE_BAD_FUNCTION_ARGUMENT;
    return curl_easy_getinfo(handle, information, value);
}

static inline void *ccurl_get_private(CURL *handle) {
    void *value = NULL;
    curl_easy_getinfo(handle, CURLINFO_PRIVATE, &value);
    return value;
}

// The bundle of certificates that the library was built to trust; null when there is none or it does not say.
static inline const char *ccurl_system_bundle(CURL *handle) {
    char *value = NULL;
#if LIBCURL_VERSION_NUM >= 0x075400
    curl_easy_getinfo(handle, CURLINFO_CAINFO, &value);
#endif
    (void)handle;
    return value;
}

// A file without a name, in memory, that child processes do not inherit. The system's own header hides it.
static inline int ccurl_memory_file(const char *label) {
    extern int memfd_create(const char *, unsigned int);
    return memfd_create(label, 1u);
}

static inline CURLMcode ccurl_multi_set_long(CURLM *multi, CURLMoption option, long value) {
    if ((int)option / 10000 != 0) return CURLM_BAD_FUNCTION_ARGUMENT;
    return curl_multi_setopt(multi, option, value);
}

typedef int (*ccurl_socket_watch)(CURL *handle, curl_socket_t socket, int what, void *context, void *unused);
typedef int (*ccurl_timer)(CURLM *multi, long milliseconds, void *context);

// What is told which sockets to watch, and when to come back.
static inline CURLMcode ccurl_multi_set_watch(CURLM *multi, ccurl_socket_watch sockets, ccurl_timer timer, void *context) {
    CURLMcode code = curl_multi_setopt(multi, CURLMOPT_SOCKETFUNCTION, sockets);
    if (code == CURLM_OK) code = curl_multi_setopt(multi, CURLMOPT_SOCKETDATA, context);
    if (code == CURLM_OK) code = curl_multi_setopt(multi, CURLMOPT_TIMERFUNCTION, timer);
    if (code == CURLM_OK) code = curl_multi_setopt(multi, CURLMOPT_TIMERDATA, context);
    return code;
}

// The next transfer that has ended, and how; null when there is none.
static inline CURL *ccurl_next_ended(CURLM *multi, CURLcode *result) {
    int left = 0;
    for (CURLMsg *message = curl_multi_info_read(multi, &left); message; message = curl_multi_info_read(multi, &left)) {
        if (message->msg != CURLMSG_DONE) continue;
        *result = message->data.result;
        return message->easy_handle;
    }
    return NULL;
}

#endif
