/* A figure into a file, by gnuplot. */
#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "io/output.h"
#include "io/program.h"
#include "report/figure.h"

#define GNUPLOT_SECONDS 60 /* a figure takes well below one */
#define INSTALL         "apt-get install gnuplot-nox"

/* What a file of each extension is drawn by, and the bytes it must begin with. */
static const struct format {
    const char *extension, *terminal;
    double inch;      /* units of the terminal in an inch; 0 = it counts in inches itself */
    const char *rest; /* of the terminal's words: 8-point letters, lines of one size everywhere */
    const char *begins;
} formats[] = {
    {".svg", "svg", 96, "font 'sans-serif,10.7' linewidth 1.0 background '#ffffff'", "<?xml"},
    {".pdf", "pdfcairo", 0, "font 'sans-serif,8' linewidth 1.0", "%PDF"},
    {".png", "pngcairo", 300, "font 'sans-serif,8' fontscale 3.13 linewidth 3.5 pointscale 4.2",
     "\x89PNG"},
};
enum { FORMATS = sizeof formats / sizeof *formats };
/* For a page that gives the background. */
static const struct format inline_format = {"inline", "svg", 96,
                                            "font 'sans-serif,10.7' linewidth 1.0", "<?xml"};

static const struct format *find_format(const char *path) {
    const char *dot = strrchr(path, '.');
    for (size_t i = 0; dot != NULL && i < FORMATS; i++)
        if (strcmp(dot, formats[i].extension) == 0)
            return &formats[i];
    return NULL;
}

wt_status wt_figure_check_path(wt_context *context, const char *path) {
    if (find_format(path) == NULL)
        return wt_fail(context, WT_USAGE, "'%s' ends in none of .svg, .pdf and .png", path);
    return WT_OK;
}

wt_status wt_gnuplot_run(wt_context *context, const wt_script *script, char **out, size_t *bytes) {
    /* -d: no settings of the user's own, which would change the picture. */
    static const char *const words[] = {"gnuplot", "-d", "-", NULL};
    if (script->status != WT_OK)
        return script->status;
    wt_program gnuplot = {.words = words,
                          .install = INSTALL,
                          .input = script->text,
                          .input_bytes = script->length,
                          .seconds = GNUPLOT_SECONDS};
    return wt_program_run(context, &gnuplot, out, bytes);
}

/* A heat map is a small image in an SVG, which viewers would blur when they enlarge it: they are
 * told not to. */
static wt_status write_svg(wt_output *output, const char *text) {
    static const char image[] = "<image ", crisp[] = "image-rendering='pixelated' ";
    const char *found;
    while ((found = strstr(text, image)) != NULL) {
        found += sizeof image - 1;
        WT_PASS(wt_output_write(output, text, (size_t)(found - text)));
        WT_PASS(wt_output_write(output, crisp, sizeof crisp - 1));
        text = found;
    }
    return wt_output_write(output, text, strlen(text));
}

static wt_status save(wt_context *context, const char *path, const char *bytes, size_t count) {
    wt_output *output;
    wt_status status;
    WT_TRY(wt_output_open(context, path, &output));
    if (strcmp(find_format(path)->extension, ".svg") == 0)
        WT_TRY(write_svg(output, bytes));
    else
        WT_TRY(wt_output_write(output, bytes, count));
    WT_TRY(wt_output_commit(output));
done:
    wt_output_free(output);
    return status;
}

/* The date of the day in a PDF, at its place and length, gives way to a fixed one: the same figure
 * is the same bytes. */
static void fix_date(char *picture, size_t bytes) {
    static const char mark[] = "/CreationDate (D:", fixed[] = "20000101000000";
    const size_t whole = sizeof mark - 1 + sizeof fixed - 1;
    for (size_t i = 0; i + whole <= bytes; i++)
        if (memcmp(picture + i, mark, sizeof mark - 1) == 0)
            memcpy(picture + i + sizeof mark - 1, fixed, sizeof fixed - 1);
}

static wt_status draw(wt_context *context, const wt_figure *figure, const struct format *format,
                      char **picture, size_t *bytes) {
    wt_script script = {.context = context};
    wt_status status;
    *picture = NULL;
    WT_TRY(wt_figure_check(context, figure));
    wt_layout layout = wt_figure_layout(figure);
    wt_script_add(&script, "set terminal %s size ", format->terminal);
    if (format->inch > 0)
        wt_script_add(&script, "%.0f,%.0f", layout.width * format->inch,
                      layout.height * format->inch);
    else
        wt_script_add(&script, "%.4fin,%.4fin", layout.width, layout.height);
    wt_script_add(&script, " %s\n", format->rest);
    wt_figure_script(&script, figure, &layout);
    WT_TRY(wt_gnuplot_run(context, &script, picture, bytes));
    if (*bytes < 5 || memcmp(*picture, format->begins, strlen(format->begins)) != 0) {
        status =
            wt_fail(context, WT_UNAVAILABLE, "gnuplot gave no %s picture", format->extension + 1);
        goto done;
    }
    fix_date(*picture, *bytes);
done:
    wt_script_free(&script);
    return status;
}

wt_status wt_figure_write(wt_context *context, const wt_figure *given, const char *path) {
    wt_arena arena = wt_arena_start(context, "a figure");
    wt_figure figure;
    char *picture = NULL;
    size_t bytes;
    wt_status status;
    WT_TRY(wt_figure_read(&arena, given, &figure));
    WT_TRY(wt_figure_check_path(context, path));
    WT_TRY(draw(context, &figure, find_format(path), &picture, &bytes));
    WT_TRY(save(context, path, picture, bytes));
done:
    wt_arena_free(&arena);
    wt_release(picture);
    return status;
}

wt_status wt_figure_inline(wt_context *context, const wt_figure *figure, char **out) {
    size_t bytes;
    return draw(context, figure, &inline_format, out, &bytes);
}

wt_status wt_figure_possible(wt_context *context) {
    static const char *const words[] = {"gnuplot", "--version", NULL};
    wt_program gnuplot = {
        .words = words, .install = INSTALL, .input = "", .seconds = GNUPLOT_SECONDS};
    char *text = NULL;
    size_t bytes;
    wt_status status = wt_program_run(context, &gnuplot, &text, &bytes);
    wt_release(text);
    return status;
}
