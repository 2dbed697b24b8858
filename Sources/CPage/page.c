// The compiler reads the documents of this folder into the program, and again when one of them has changed.
#include "CPage.h"

#pragma clang diagnostic ignored "-Wc23-extensions"

static const unsigned char html[] = {
#embed "page.html"
};
// One script of several files, in the order in which one uses another.
static const unsigned char script[] = {
#embed "script/dom.js"
    ,
#embed "script/text.js"
    ,
#embed "script/daemon.js"
    ,
#embed "script/actions.js"
    ,
#embed "script/figures.js"
    ,
#embed "script/troubles.js"
    ,
#embed "script/routes.js"
    ,
#embed "script/overview.js"
    ,
#embed "script/jobs.js"
    ,
#embed "script/job.js"
    ,
#embed "script/main.js"
};
static const unsigned char style[] = {
#embed "page.css"
};
static const unsigned char words[] = {
#embed "words.json"
};
static const unsigned char icon[] = {
#embed "icon.svg"
};

struct EmbeddedDocument embedded_page_html(void) { return (struct EmbeddedDocument){html, sizeof html}; }

struct EmbeddedDocument embedded_page_js(void) { return (struct EmbeddedDocument){script, sizeof script}; }

struct EmbeddedDocument embedded_page_css(void) { return (struct EmbeddedDocument){style, sizeof style}; }

struct EmbeddedDocument embedded_words_json(void) { return (struct EmbeddedDocument){words, sizeof words}; }

struct EmbeddedDocument embedded_icon_svg(void) { return (struct EmbeddedDocument){icon, sizeof icon}; }
