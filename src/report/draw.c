/* A figure into a file or into characters, by gnuplot. */
#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "io/output.h"
#include "report/figure.h"
#include "report/program.h"

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

static wt_status run_gnuplot(wt_context *context, const wt_script *script, char **out,
                             size_t *bytes) {
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
    WT_TRY(run_gnuplot(context, &script, picture, bytes));
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

/* A heat map in characters: every cell is the mean of the entries it covers, light to dark by its
 * size, with - below 0 marked by letters. */
static void shade(wt_script *out, const wt_figure *figure, const wt_panel *panel, size_t width) {
    static const char above[] = " .:+*#", below[] = " .,-=%";
    size_t columns = panel->heat_columns < width - 2 ? panel->heat_columns : width - 2;
    /* A character is about twice as high as wide. */
    size_t rows = panel->heat_rows * columns / panel->heat_columns / 2;
    rows = rows == 0 ? 1 : rows > panel->heat_rows ? panel->heat_rows : rows;
    if (panel->title != NULL)
        wt_script_add(out, "%s\n", panel->title);
    for (size_t i = 0; i < rows; i++) {
        wt_script_add(out, "|");
        for (size_t j = 0; j < columns; j++) {
            double sum = 0, count = 0;
            for (size_t r = i * panel->heat_rows / rows; r < (i + 1) * panel->heat_rows / rows; r++)
                for (size_t c = j * panel->heat_columns / columns;
                     c < (j + 1) * panel->heat_columns / columns; c++, count++)
                    sum += panel->heat[r * panel->heat_columns + c];
            double share = fmin(1, fabs(sum / count) / figure->heat_limit);
            int step = isfinite(share) ? (int)lround(5 * share) : 0;
            wt_script_add(out, "%c", (sum < 0 ? below : above)[step]);
        }
        wt_script_add(out, "|\n");
    }
    wt_script_add(out, "0 to %g: '%s'; 0 to -%g: '%s'\n\n", figure->heat_limit, above,
                  figure->heat_limit, below);
}

/* The lines without trailing blanks, and without the empty ones gnuplot puts before and after the
 * picture; a page starts with a form feed. */
static void add_trimmed(wt_script *out, const char *text) {
    int skipped = 0;
    bool begun = false;
    while (*text != '\0') {
        size_t whole = strcspn(text, "\n"), length = whole;
        while (length > 0 && (text[length - 1] == ' ' || text[length - 1] == '\f'))
            length--;
        for (; begun && length > 0 && skipped > 0; skipped--)
            wt_script_add(out, "\n");
        if (length > 0)
            wt_script_add(out, "%.*s\n", (int)length, text);
        begun = begun || length > 0;
        skipped = length > 0 ? 0 : skipped + 1;
        text += whole + (text[whole] == '\n');
    }
    wt_script_add(out, "\n");
}

static wt_status add_panel_text(wt_context *context, const wt_figure *figure, const wt_panel *panel,
                                size_t width, wt_script *out) {
    if (panel->heat != NULL) {
        shade(out, figure, panel, width);
        return out->status;
    }
    wt_script script = {.context = context};
    char *text = NULL;
    size_t bytes, height = width / 4 < 16 ? 16 : width / 4 > 28 ? 28 : width / 4;
    wt_status status;
    wt_script_add(&script, "set terminal dumb size %zu,%zu noenhanced mono\n", width, height);
    wt_panel_script_plain(&script, figure, panel, (double)width);
    WT_TRY(run_gnuplot(context, &script, &text, &bytes));
    add_trimmed(out, text);
    status = out->status;
done:
    wt_script_free(&script);
    wt_release(text);
    return status;
}

wt_status wt_figure_text(wt_context *context, const wt_figure *given, size_t width, char **out) {
    wt_arena arena = wt_arena_start(context, "a figure");
    wt_script text = {.context = context};
    wt_figure figure;
    wt_status status;
    *out = NULL;
    if (width < 20 || width > 1000)
        return wt_fail(context, WT_USAGE, "a figure in characters is 20 to 1000 wide, not %zu",
                       width);
    WT_TRY(wt_figure_read(&arena, given, &figure));
    WT_TRY(wt_figure_check(context, &figure));
    if (figure.title != NULL)
        wt_script_add(&text, "%s\n\n", figure.title);
    for (size_t i = 0; i < figure.panel_count; i++)
        if (!wt_panel_blank(&figure.panels[i]))
            WT_TRY(add_panel_text(context, &figure, &figure.panels[i], width, &text));
    *out = text.text;
    text.text = NULL;
done:
    wt_arena_free(&arena);
    wt_script_free(&text);
    return status;
}
