#include "features/learn/loss.h"

#include <math.h>
#include <string.h>

static double clamp(double x, double low, double high) {
    return x < low ? low : x > high ? high : x;
}

static double square_value(double delta, double y, double f) {
    (void)delta;
    return (f - y) * (f - y);
}
static double square_slope(double delta, double y, double f) {
    (void)delta;
    return 2 * (f - y);
}
static double square_clip(double delta, double y, double s) {
    (void)delta, (void)y;
    return s;
}
static double square_conjugate(double delta, double y, double s) {
    (void)delta;
    return s * y + s * s / 4;
}
static double square_proximal(double delta, double y, double t, double z) {
    (void)delta;
    return y + (z - y) / (1 + 2 * t);
}

static double absolute_value(double delta, double y, double f) {
    (void)delta;
    return fabs(f - y);
}
static double absolute_slope(double delta, double y, double f) {
    (void)delta;
    return (double)((f > y) - (f < y));
}
static double absolute_clip(double delta, double y, double s) {
    (void)delta, (void)y;
    return clamp(s, -1, 1);
}
static double absolute_conjugate(double delta, double y, double s) {
    (void)delta;
    return s * y;
}
static double absolute_proximal(double delta, double y, double t, double z) {
    (void)delta;
    return z - clamp(z - y, -t, t);
}

static double huber_value(double delta, double y, double f) {
    double r = fabs(f - y);
    return r <= delta ? r * r / 2 : delta * (r - delta / 2);
}
static double huber_slope(double delta, double y, double f) {
    return clamp(f - y, -delta, delta);
}
static double huber_clip(double delta, double y, double s) {
    (void)y;
    return clamp(s, -delta, delta);
}
static double huber_conjugate(double delta, double y, double s) {
    (void)delta;
    return s * y + s * s / 2;
}
static double huber_proximal(double delta, double y, double t, double z) {
    return z - t * clamp((z - y) / (1 + t), -delta, delta);
}

/* 1 / (1 + exp(x)) without overflow of what matters: exp(x) = inf gives 0. */
static double falling(double x) {
    return 1 / (1 + exp(x));
}
static double logistic_value(double delta, double y, double f) {
    (void)delta;
    double margin = y * f;
    return margin > 0 ? log1p(exp(-margin)) : -margin + log1p(exp(margin));
}
static double logistic_slope(double delta, double y, double f) {
    (void)delta;
    return -y * falling(y * f);
}
/* s = -y p with p in [0, 1] */
static double logistic_clip(double delta, double y, double s) {
    (void)delta;
    return -y * clamp(-y * s, 0, 1);
}
static double logistic_conjugate(double delta, double y, double s) {
    (void)delta;
    double p = -y * s;
    return (p > 0 ? p * log(p) : 0) + (p < 1 ? (1 - p) * log1p(-p) : 0);
}
/* With x = y f and a = y z: the root of x - a - t / (1 + exp(x)), which rises in x and changes sign
 * on [a, a + t]. Newton's method, with bisection where it would leave the bracket. */
static double logistic_proximal(double delta, double y, double t, double z) {
    (void)delta;
    enum { MOST = 200 };
    double a = y * z, low = a, high = a + t, x = a + t * falling(a + t / 2);
    for (int step = 0; step < MOST; step++) {
        double p = falling(x), value = x - a - t * p;
        if (value > 0)
            high = x;
        else
            low = x;
        double next = x - value / (1 + t * p * (1 - p));
        if (fabs(next - x) <= 1e-16 * fabs(x))
            break;
        /* An end of the bracket is a point left behind: going back to it would go round. */
        x = next > low && next < high ? next : low + (high - low) / 2;
    }
    return y * x;
}

static const struct {
    const char *name;
    double (*value)(double delta, double y, double f);
    double (*slope)(double delta, double y, double f);
    double (*clip)(double delta, double y, double s);
    double (*conjugate)(double delta, double y, double s);
    double (*proximal)(double delta, double y, double t, double z);
} losses[] = {
    [WT_LOSS_SQUARE] = {"square", square_value, square_slope, square_clip, square_conjugate,
                        square_proximal},
    [WT_LOSS_ABSOLUTE] = {"absolute", absolute_value, absolute_slope, absolute_clip,
                          absolute_conjugate, absolute_proximal},
    [WT_LOSS_HUBER] = {"huber", huber_value, huber_slope, huber_clip, huber_conjugate,
                       huber_proximal},
    [WT_LOSS_LOGISTIC] = {"logistic", logistic_value, logistic_slope, logistic_clip,
                          logistic_conjugate, logistic_proximal},
};
enum { LOSSES = sizeof losses / sizeof *losses };

wt_status wt_loss_parse(wt_context *context, const char *word, wt_loss *out) {
    for (size_t i = 0; i < LOSSES; i++)
        if (strcmp(word, losses[i].name) == 0) {
            *out = (wt_loss)i;
            return WT_OK;
        }
    return wt_fail(context, WT_USAGE, "there is no loss '%s': square, absolute, huber or logistic",
                   word);
}

const char *wt_loss_name(wt_loss loss) {
    return (size_t)loss < LOSSES ? losses[loss].name : "?";
}

wt_status wt_loss_check_labels(wt_context *context, wt_loss loss, const double *y, size_t n,
                               size_t q) {
    WT_PASS(wt_check_choice(context, "loss", (int)loss, LOSSES));
    for (size_t i = 0; i < n * q; i++) {
        if (!isfinite(y[i]))
            return wt_fail(context, WT_DATA, "y: sample %zu, output %zu is %g", i / q, i % q, y[i]);
        if (loss == WT_LOSS_LOGISTIC && y[i] != 1 && y[i] != -1)
            return wt_fail(context, WT_DATA,
                           "y: sample %zu, output %zu is %g; the logistic loss wants labels -1 "
                           "and +1",
                           i / q, i % q, y[i]);
    }
    return WT_OK;
}

double wt_loss_value(wt_loss loss, double delta, double y, double f) {
    return losses[loss].value(delta, y, f);
}
double wt_loss_slope(wt_loss loss, double delta, double y, double f) {
    return losses[loss].slope(delta, y, f);
}
double wt_loss_clip_slope(wt_loss loss, double delta, double y, double s) {
    return losses[loss].clip(delta, y, s);
}
double wt_loss_conjugate(wt_loss loss, double delta, double y, double s) {
    return losses[loss].conjugate(delta, y, s);
}
double wt_loss_proximal(wt_loss loss, double delta, double y, double t, double z) {
    return losses[loss].proximal(delta, y, t, z);
}
