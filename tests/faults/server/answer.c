// Makes the answer to a request, with the fault that the knobs ask for.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "server.h"

static const char PAGE[] = "<html><body><h1>Internal error</h1><pre>at handler(request:1)\n</pre></body></html>";

static bool due(long every, long number) { return every > 0 && number % every == 0; }

struct draft {
    int status;
    const char *type;
    char *body;
    size_t length;
    bool close, head;
    enum fault fault;
};

// 1xx, 204 and 304 have no content (RFC 9110 section 6.4.1).
static bool has_body(int status) { return status >= 200 && status != 204 && status != 304; }

static void put_without_body(struct bytes *out, const struct draft *draft) {
    char head[256];
    const char *connection = draft->close ? "Connection: close\r\n" : "";
    int size = snprintf(head, sizeof head, "HTTP/1.1 %d X\r\n%s\r\n", draft->status, connection);
    append(out, head, (size_t)size);
}

static void put(struct bytes *out, const struct draft *draft, long number) {
    char head[4096];
    const char *allow = draft->status == 405 ? "Allow: GET\r\n" : "";
    const char *connection = draft->close ? "Connection: close\r\n" : "";
    const char *colon = due(knobs.no_colon_every, number) ? "" : ":";
    if (due(knobs.garbage_every, number) || draft->fault == NOT_HTTP) {
        append(out, "ready.\r\n\r\n", 10);
        return;
    }
    if (!has_body(draft->status)) {
        put_without_body(out, draft);
        return;
    }
    if (knobs.chunked && draft->status == 200) {
        int size = snprintf(head, sizeof head, "HTTP/1.1 %d X\r\nContent-Type%s %s\r\nTransfer-Encoding: chunked\r\n%s\r\n",
                            draft->status, colon, draft->type, connection);
        append(out, head, (size_t)size);
        if (draft->head) {
            return;
        }
        for (size_t at = 0; at < draft->length;) {
            size_t part = draft->length - at < 7 ? draft->length - at : 7;
            size = snprintf(head, sizeof head, "%zx\r\n", part);
            append(out, head, (size_t)size);
            append(out, draft->body + at, part);
            append(out, "\r\n", 2);
            at += part;
        }
        append(out, "0\r\n\r\n", 5);
        return;
    }
    size_t stated = draft->length - (due(knobs.length_short_every, number) || draft->fault == SHORT_LENGTH ? 3 : 0);
    char length[64], type[128];
    snprintf(length, sizeof length, "Content-Length: %zu\r\n", stated);
    snprintf(type, sizeof type, "Content-Type%s %s\r\n", colon, draft->type);
    const char *place = draft->status / 100 == 3 ? "Location: /ping\r\n" : "";
    const char *coding = knobs.gzip && draft->status == 200 && draft->body[0] == 0x1f ? "Content-Encoding: gzip\r\n" : "";
    const char *date = knobs.date ? "Date: Sun, 01 Mar 2026 12:00:00 GMT\r\n" : "";
    static const char hints[] = "HTTP/1.1 103 Early Hints\r\nLink: </style.css>; rel=preload\r\n\r\n";
    append(out, hints, knobs.hints && !knobs.http_1_0 ? sizeof hints - 1 : 0);
    int size = snprintf(head, sizeof head, "HTTP/1.%d %d X\r\n%s%s%s%s%s%s%s", knobs.http_1_0 ? 0 : 1, draft->status,
                        date, knobs.fields_first ? length : type, knobs.fields_first ? type : length, coding, place,
                        allow, connection);
    for (long i = 0; i < knobs.header_bytes / 32; i++) {
        size += snprintf(head + size, sizeof head - (size_t)size, "X-Trace-%04ld: 0123456789abcdef\r\n", i);
    }
    size += snprintf(head + size, sizeof head - (size_t)size, "\r\n");
    append(out, head, (size_t)size);
    append(out, draft->body, draft->head ? 0 : draft->length);
}

// The right body: `done N`, filled up to body_bytes; with `vary`, followed by a tail whose length depends on N.
static size_t right_body(char *body, size_t room, const char *n) {
    size_t length = (size_t)snprintf(body, room, "done %s", n);
    size_t wanted = (size_t)knobs.body_bytes;
    if (knobs.vary) {
        wanted = length + (size_t)(strtoul(n, NULL, 10) * 2654435761u % 200);
    }
    wanted += knobs.pad_bytes ? length + (size_t)knobs.pad_bytes : 0;
    if (wanted > room) {
        wanted = room;
    }
    if (wanted > length) {
        memset(body + length, '.', wanted - length);
        length = wanted;
    }
    return length;
}

static enum fate work(const struct request *request, int connection, struct bytes *out) {
    static char body[1 << 20];
    long number = atomic_fetch_add(&shared->served, 1) + 1;
    around_request(number);
    static char before[1024];
    const char *n = strchr(request->target, '=');
    struct draft draft = {200, "text/plain", body, right_body(body, sizeof body, n ? n + 1 : ""), request->close,
                          strcmp(request->method, "HEAD") == 0, NO_FAULT};
    if (is_touched(number, connection, n ? n + 1 : "", !request->close || knobs.close_after_answer)) {
        draft.fault = (enum fault)knobs.fault;
        use_up(draft.fault);
    }
    // As a handler that keeps "the current user" over a wait: the next request has set it meanwhile.
    static int last_connection;
    if (knobs.mix_when_busy && !request->close && connection != last_connection && number % 3 == 0 && *before) {
        draft.length = right_body(body, sizeof body, before);
    }
    if (knobs.mix_when_busy && !request->close) {
        last_connection = connection;
        snprintf(before, sizeof before, "%s", strchr(request->target, '=') ? strchr(request->target, '=') + 1 : "");
    }
    if (knobs.swap_answers) {
        draft.length = right_body(body, sizeof body, before);
        snprintf(before, sizeof before, "%s", n ? n + 1 : "");
    }
    if (knobs.blank_from && number >= knobs.blank_from) {
        draft.length = 0;
    }
    if (knobs.stub_ms && now_ms() < shared->started_ms + knobs.stub_ms) {
        draft.status = 503;
        draft.length = (size_t)snprintf(body, sizeof body, "starting");
    }
    if (draft.fault == OTHER_BYTE || due(knobs.wrong_body_every, number) || (knobs.wrong_beyond && connection > knobs.wrong_beyond)) {
        body[0] = 'D';
    }
    if (draft.fault == NO_BODY || due(knobs.blank_body_every, number)) {
        draft.length = 0;
    }
    if (knobs.stale_body && number > knobs.stale_body) {
        draft.length = right_body(body, sizeof body, "1");
    }
    if (due(knobs.error_page_every, number)) {
        draft.length = 0;
        for (int line = 0; line < 35; line++) {
            memcpy(body + draft.length, PAGE, sizeof PAGE - 1);
            draft.length += sizeof PAGE - 1;
        }
    }
    if (due(knobs.status_every, number) || (knobs.status_from && number >= knobs.status_from)) {
        draft.status = (int)knobs.status;
        draft.length = (size_t)snprintf(body, sizeof body, "no");
    }
    if (draft.fault == OTHER_STATUS) {
        draft.status = 500;
        draft.length = (size_t)snprintf(body, sizeof body, "no");
    }
    if (draft.fault == OTHER_TYPE || due(knobs.other_type_every, number)) {
        draft.type = "text/html";
    }
    if (knobs.gzip && draft.length) {
        draft.length = as_gzip(body, draft.length);
    }
    draft.close |= due(knobs.say_close_every, number);
    size_t begin = out->length;
    if (due(knobs.close_every, number) || draft.fault == CLOSED_UNANSWERED) {
        return CLOSE;
    }
    if (due(knobs.reset_every, number) || draft.fault == RESET_UNANSWERED) {
        return RESET;
    }
    bool silent = knobs.mute_from_ms && now_ms() - atomic_load(&shared->first_ms) >= knobs.mute_from_ms;
    if (silent || draft.fault == SILENCE || due(knobs.mute_every, number) || (knobs.mute_beyond && connection > knobs.mute_beyond)) {
        return MUTE;
    }
    put(out, &draft, number);
    if (due(knobs.twice_every, number)) {
        put(out, &draft, number);
    }
    if (due(knobs.truncate_every, number) || draft.fault == CUT_OFF) {
        out->length = begin + (out->length - begin) - draft.length / 2;
        return CLOSE;
    }
    if (due(knobs.drip_every, number)) {
        return DRIP;
    }
    if (draft.fault == LATE) {
        return HOLD;
    }
    bool quietly = knobs.close_after_answer || draft.fault == CLOSED_AFTER || due(knobs.idle_close_every, number);
    return draft.close || quietly ? CLOSE : KEEP;
}

enum fate answer(const struct request *request, int connection, struct bytes *out) {
    size_t path = strcspn(request->target, "?");
    bool head = strcmp(request->method, "HEAD") == 0;
    bool get = strcmp(request->method, "GET") == 0 || head || knobs.any_method;
    struct draft draft = {404, "text/plain", "not found", 9, request->close, head, NO_FAULT};
    bool forgot = knobs.forget_after && atomic_load(&shared->served) > knobs.forget_after;
    if (path == 5 && strncmp(request->target, "/work", 5) == 0 && get) {
        return work(request, connection, out);
    }
    if (path == 5 && strncmp(request->target, "/ping", 5) == 0) {
        draft = get ? (struct draft){200, "text/plain", "pong", 4, request->close, head, NO_FAULT}
                    : (struct draft){405, "text/plain", "method not allowed", 18, request->close, head, NO_FAULT};
    } else if (knobs.unknown_is_200 || forgot) {
        draft = (struct draft){200, "text/plain", "anything", 8, request->close, head, NO_FAULT};
    }
    if (knobs.octet_stream) {
        draft.type = "application/octet-stream";
    }
    put(out, &draft, 1);
    return draft.close ? CLOSE : KEEP;
}
