/* The report: text made fit for a page, the page and its files. */
#define _GNU_SOURCE
#include <dirent.h>
#include <math.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/memory.h"
#include "lab/spec.h"
#include "report/cells.h"
#include "report/html.h"
#include "report/page.h"
#include "report/rerun.h"
#include "report/words.h"

static char folder[] = "/tmp/wattle-report-XXXXXX";

static int open_all(void **state) {
    return mkdtemp(folder) == NULL ? -1 : check_open(state);
}

static int close_folder(void **state) {
    return rmdir(folder) != 0 ? -1 : close_all(state);
}

static const char *in_folder(const char *name) {
    static char path[4][256];
    static int turn;
    turn = (turn + 1) % 4;
    snprintf(path[turn], sizeof path[turn], "%s/%s", folder, name);
    return path[turn];
}

/* The whole file, ended by 0; to be released. NULL when there is none. */
static char *slurp(wt_context *context, const char *path) {
    FILE *file = fopen(path, "rb");
    if (file == NULL)
        return NULL;
    fseek(file, 0, SEEK_END);
    size_t bytes = (size_t)ftell(file);
    rewind(file);
    char *text;
    CHECK_OK(context, WT_NEW_ZERO(context, &text, bytes + 1, "file"));
    assert_int_equal(fread(text, 1, bytes, file), bytes);
    fclose(file);
    return text;
}

/* Removes the page and its folder; how many files it had. */
static size_t sweep_away(void) {
    size_t files = 0;
    DIR *listing = opendir(in_folder("page-figures"));
    for (struct dirent *entry; listing != NULL && (entry = readdir(listing)) != NULL;)
        if (entry->d_name[0] != '.') {
            assert_int_equal(unlinkat(dirfd(listing), entry->d_name, 0), 0);
            files++;
        }
    if (listing != NULL)
        closedir(listing);
    rmdir(in_folder("page-figures"));
    unlink(in_folder("page.html"));
    return files;
}

static void text_is_escaped(void **state) {
    wt_script page = {.context = *state};
    wt_html_text(&page, "a<b> & \"c\" 'd'\x01 \xc3\xa9 \xff.");
    CHECK_OK(*state, page.status);
    assert_string_equal(page.text,
                        "a&lt;b&gt; &amp; &quot;c&quot; &#39;d&#39;\xef\xbf\xbd \xc3\xa9 "
                        "\xef\xbf\xbd.");
    wt_script_free(&page);
}

static void numbers_are_spelled(void **state) {
    static const struct {
        double value;
        const char *words;
    } cases[] = {{0.3141, "0.314"}, {-1.5, "−1.5"},  {4096, "4096"},    {2e-7, "2e-07"},
                 {NAN, "–"},        {INFINITY, "∞"}, {-INFINITY, "−∞"}, {12345.6, "12346"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        wt_script page = {.context = *state};
        wt_html_number(&page, cases[i].value);
        assert_string_equal(page.text, cases[i].words);
        wt_script_free(&page);
    }
}

/* Several drawings on a page must not share names. */
static void drawings_keep_their_names_apart(void **state) {
    static const char svg[] =
        "<?xml version=\"1.0\"?>\n<svg width=\"30\" height=\"20\" viewBox=\"0 0 30 "
        "20\">\n<title>Gnuplot</title>\n<desc>Made</desc><path id='gpPt0'/><use "
        "xlink:href='#gpPt0'/><g id=\"plot_1\" filter=\"url(#box)\"/></svg>\n";
    wt_script page = {.context = *state};
    wt_html_drawing(&page, svg, "a-", "one <two>");
    assert_non_null(strstr(page.text, "viewBox=\"0 0 30 20\""));
    assert_non_null(strstr(page.text, "aria-label=\"one &lt;two&gt;\""));
    assert_non_null(strstr(page.text, " id='a-gpPt0'"));
    assert_non_null(strstr(page.text, "href='#a-gpPt0'"));
    assert_non_null(strstr(page.text, " id=\"a-plot_1\""));
    assert_non_null(strstr(page.text, "url(#a-box)"));
    assert_null(strstr(page.text, "Gnuplot"));
    wt_script_free(&page);
}

static void write_page(wt_context *context, const char *path, wt_report_summary *summary) {
    wt_findings *findings;
    CHECK_OK(context, wt_findings_measure(context, &results, &findings));
    CHECK_OK(context,
             wt_page_write(context, &results, findings, "some/results.db", path, NULL, 0, summary));
    wt_findings_free(findings);
}

static void the_page_is_whole_and_the_same_again(void **state) {
    wt_report_summary summary;
    add_curves(*state);
    add_error(*state, "rfa", "mean-power:2", 99, 0, 1, "bad <script>alert(1)</script>");
    write_page(*state, in_folder("page.html"), &summary);
    assert_int_equal(summary.figures, 1);
    char *page = slurp(*state, in_folder("page.html"));
    char *pdf = slurp(*state, in_folder("page-figures/curve-samples.pdf"));
    assert_non_null(pdf);
    assert_int_equal(count_of(page, "<svg class=\"plot\""), 2);
    assert_int_equal(count_of(page, "<figure "), 1);
    assert_int_equal(count_of(page, "<script"), 2); /* the points, and the page's own */
    assert_non_null(strstr(page, "bad &lt;script&gt;"));
    assert_non_null(strstr(page, "here &amp; &lt;there&gt;"));
    assert_non_null(strstr(page, "wattle report some/results.db -o ")); /* as it was given */
    /* nothing from elsewhere: names of the SVG standard are no addresses that are fetched */
    assert_int_equal(count_of(page, "http:"), count_of(page, "http://www.w3.org/"));
    assert_int_equal(count_of(page, "https:"), 0);
    assert_non_null(strstr(page, "content=\"default-src 'none'; "));
    assert_int_equal(sweep_away(), 3);
    write_page(*state, in_folder("page.html"), &summary);
    char *again = slurp(*state, in_folder("page.html"));
    char *pdf_again = slurp(*state, in_folder("page-figures/curve-samples.pdf"));
    assert_string_equal(page, again);
    assert_memory_equal(pdf, pdf_again, strlen(pdf)); /* up to its first 0 */
    sweep_away();
    wt_release(page);
    wt_release(again);
    wt_release(pdf);
    wt_release(pdf_again);
}

/* Whether a file of that name lies beside the page. */
static bool is_beside(const char *name) {
    char path[64];
    snprintf(path, sizeof path, "page-figures/%s", name);
    return access(in_folder(path), F_OK) == 0;
}

static void make_beside(const char *name) {
    char path[64];
    snprintf(path, sizeof path, "page-figures/%s", name);
    FILE *file = fopen(in_folder(path), "w");
    assert_non_null(file);
    fclose(file);
}

/* What an earlier report left goes, what is not a report's stays. */
static void files_of_earlier_reports_go(void **state) {
    wt_report_summary summary;
    static const char *const stale[] = {"gap-length.svg", "gap-length.pdf", "gap-length.csv",
                                        "sweep-1.ini", "sweep-2.ini"};
    static const char *const kept[] = {"mine.svg", "gap-length.png", "notes.ini"};
    add_curves(*state);
    assert_int_equal(mkdir(in_folder("page-figures"), 0777), 0);
    for (size_t i = 0; i < 5; i++)
        make_beside(stale[i]);
    for (size_t i = 0; i < 3; i++)
        make_beside(kept[i]);
    write_page(*state, in_folder("page.html"), &summary);
    for (size_t i = 0; i < 5; i++)
        assert_false(is_beside(stale[i]));
    for (size_t i = 0; i < 3; i++)
        assert_true(is_beside(kept[i]));
    assert_true(is_beside("curve-samples.svg"));
    assert_int_equal(sweep_away(), 6);
}

/* A number that the table of charts has no row for is drawn all the same, on a page that is the
 * user's own; what does not vary is not. */
static void own_parameters_have_charts(void **state) {
    wt_report_summary summary;
    for (int i = 0; i < 6; i++) {
        char parameters[160], metrics[64];
        snprintf(parameters, sizeof parameters,
                 "{\"heads\":8,\"model\":\"rfa\",\"n\":64,\"noise\":%.17g,\"rep\":%d,"
                 "\"target\":\"corr:1\"}",
                 (double)(i - i % 2) * 0.125, i % 2);
        snprintf(metrics, sizeof metrics, "{\"test_error\":%d.5}", i);
        add(*state, "curve", parameters, metrics);
    }
    write_page(*state, in_folder("page.html"), &summary);
    assert_int_equal(summary.figures, 1);
    char *page = slurp(*state, in_folder("page.html"));
    assert_non_null(strstr(page,
                           "<figure id=\"curve-by-noise\" class=\"drawn only\"><h4>Test error "
                           "against noise</h4>"));
    assert_non_null(strstr(page, "\"logX\":false,\"logY\":true"));
    assert_true(is_beside("curve-by-noise.csv"));
    wt_release(page);
    start_fresh(state);
    add_curves(*state);
    write_page(*state, in_folder("page.html"), &summary);
    assert_false(is_beside("curve-by-noise.csv"));
    assert_int_equal(sweep_away(), 3);
}

/* Names that would end the script, the page or a word of JSON stand as they are, in table, legend
 * and points. */
static void hostile_names_stay_names(void **state) {
    wt_report_summary summary;
    for (int n = 16; n <= 32; n *= 2)
        for (int i = 0; i < 2; i++)
            add_error(*state, i == 0 ? "</script><script>alert(1)</script>" : "<!--'\\\"&amp;",
                      "a'b<img src=x>", n, 0, 1, "");
    write_page(*state, in_folder("page.html"), &summary);
    char *page = slurp(*state, in_folder("page.html"));
    assert_int_equal(count_of(page, "<script"), 2);
    assert_int_equal(count_of(page, "</script"), 2);
    assert_null(strstr(page, "<img"));
    assert_null(strstr(page, "<!--"));
    assert_non_null(strstr(page, "{\"name\":\"\\u003C/script\\u003E\\u003Cscript\\u003Ealert(1)"));
    assert_non_null(
        strstr(page, "</svg>&lt;/script&gt;&lt;script&gt;alert(1)&lt;/script&gt;</li>"));
    assert_non_null(strstr(page, "<td>&lt;!--&#39;"));
    wt_release(page);
    sweep_away();
}

/* The one line by which a browser lets the page's script run, and no other. */
static void scripts_are_named_by_their_hash(void **state) {
    char hash[WT_HTML_HASH];
    (void)state;
    /* printf abc | openssl dgst -sha256 -binary | base64 */
    assert_string_equal(wt_html_hash("abc", hash), "ungWv48Bz+pBQUDeXa4iI7ADYaOWF3qctBD/YfIAFa0=");
    assert_string_equal(wt_html_hash("", hash), "47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=");
}

/* Cells that do not suffice are told apart from none, with what is wanting. */
static void too_few_cells_are_told(void **state) {
    wt_report_summary summary;
    for (int rep = 0; rep < 3; rep++)
        add_curve(*state, "rfa", "mean-power:2", 8, 8, 128, rep, 0.3);
    write_page(*state, in_folder("page.html"), &summary);
    char *page = slurp(*state, in_folder("page.html"));
    assert_non_null(strstr(page, "3 cells, too few for this effect: it needs two different "
                                 "<code>n</code> at one setting."));
    assert_non_null(strstr(page, "No cells of this store bear on it."));
    assert_null(strstr(page, "claim-2.1")); /* claims without cells are a line at the end */
    assert_non_null(strstr(page, "bear on the papers&#39; claims 1.2, 1.3, 1.4, 2.1, 2.2, "));
    wt_release(page);
    sweep_away();
}

static void an_empty_store_has_a_page(void **state) {
    wt_report_summary summary;
    write_page(*state, in_folder("page.html"), &summary);
    assert_int_equal(summary.figures, 0);
    char *page = slurp(*state, in_folder("page.html"));
    assert_non_null(strstr(page, "0 cells of <code>results.db</code>"));
    assert_non_null(strstr(page, "</html>"));
    wt_release(page);
    assert_int_equal(sweep_away(), 0);
}

/* Tables and a sentence, and files but for the pictures. */
static void without_gnuplot_there_are_tables(void **state) {
    wt_report_summary summary;
    char path[4096];
    snprintf(path, sizeof path, "%s", getenv("PATH"));
    add_curves(*state);
    setenv("PATH", "/nonexistent", 1);
    write_page(*state, in_folder("page.html"), &summary);
    setenv("PATH", path, 1);
    assert_false(summary.drawn);
    char *page = slurp(*state, in_folder("page.html"));
    assert_non_null(strstr(page, "Figures are drawn by the page alone, and not on paper: gnuplot "
                                 "is not installed: apt-get install gnuplot-nox."));
    assert_null(strstr(page, "<svg class=\"plot\""));
    assert_int_equal(count_of(page, "<details open>"), 1);
    assert_non_null(strstr(page, "<td class=\"number\">0.124"));
    wt_release(page);
    assert_int_equal(sweep_away(), 1);
}

static void a_folder_that_cannot_be_made_is_told(void **state) {
    wt_findings *findings;
    wt_report_summary summary;
    FILE *file = fopen(in_folder("page-figures"), "w");
    assert_non_null(file);
    fclose(file);
    CHECK_OK(*state, wt_findings_measure(*state, &results, &findings));
    CHECK_FAILS(*state,
                wt_page_write(*state, &results, findings, "results.db", in_folder("page.html"),
                              NULL, 0, &summary),
                WT_CANNOT_CREATE, "cannot make the folder");
    assert_int_equal(access(in_folder("page.html"), F_OK), -1);
    unlink(in_folder("page-figures"));
    wt_findings_free(findings);
}

static void sweeps_become_files(void **state) {
    wt_script spec = {.context = *state};
    wt_sweep_spec_write(&spec, "experiment=curve model=rfa, brfa n=16:512:x2");
    assert_string_equal(spec.text,
                        "[sweep]\nexperiment = curve\nmodel = rfa, brfa\nn = 16:512:x2\n");
    wt_script_free(&spec);
    wt_sweep_spec_write(&spec, "experiment=train ball=qk.two-one=8,v.two-one=4 m=20");
    assert_non_null(strstr(spec.text, "\nball = qk.two-one=8,v.two-one=4\nm = 20\n"));
    wt_script_free(&spec);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(text_is_escaped),
        cmocka_unit_test(numbers_are_spelled),
        cmocka_unit_test(drawings_keep_their_names_apart),
        cmocka_unit_test_setup(the_page_is_whole_and_the_same_again, start_fresh),
        cmocka_unit_test_setup(files_of_earlier_reports_go, start_fresh),
        cmocka_unit_test_setup(own_parameters_have_charts, start_fresh),
        cmocka_unit_test_setup(hostile_names_stay_names, start_fresh),
        cmocka_unit_test(scripts_are_named_by_their_hash),
        cmocka_unit_test_setup(too_few_cells_are_told, start_fresh),
        cmocka_unit_test_setup(an_empty_store_has_a_page, start_fresh),
        cmocka_unit_test_setup(without_gnuplot_there_are_tables, start_fresh),
        cmocka_unit_test_setup(a_folder_that_cannot_be_made_is_told, start_fresh),
        cmocka_unit_test(sweeps_become_files),
    };
    return cmocka_run_group_tests(tests, open_all, close_folder);
}
