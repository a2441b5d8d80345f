/* Student's and Welch's intervals and one-sided tests. */
#include "parts.h"

#include <math.h>

struct estimate {
	double mean, error, df; /* error: standard error of the mean difference */
};

static struct estimate estimate_paired(const double *differences, size_t n)
{
	return (struct estimate){
		sample_mean(differences, n),
		sqrt(sample_variance(differences, n) / (double)n),
		(double)n - 1,
	};
}

static struct estimate estimate_welch(const double *x, size_t nx, const double *y, size_t ny)
{
	double vx = sample_variance(x, nx) / (double)nx;
	double vy = sample_variance(y, ny) / (double)ny;
	double lower = vx * vx / ((double)nx - 1) + vy * vy / ((double)ny - 1);

	return (struct estimate){
		sample_mean(x, nx) - sample_mean(y, ny),
		sqrt(vx + vy),
		/* Welch-Satterthwaite; two samples without spread leave nothing to estimate. */
		lower > 0 ? (vx + vy) * (vx + vy) / lower : (double)(nx + ny) - 2,
	};
}

static struct stats_interval interval_around(struct estimate e, double alpha)
{
	double half;

	if (isnan(e.error))
		return (struct stats_interval){NAN, NAN};
	half = e.error > 0 ? stats_t_quantile(1 - alpha, e.df) * e.error : 0;
	return (struct stats_interval){e.mean - half, e.mean + half};
}

static double p_above(struct estimate e, double threshold)
{
	if (isnan(e.error))
		return NAN;
	if (!(e.error > 0))
		return e.mean > threshold ? 0 : 1;
	return stats_t_tail((e.mean - threshold) / e.error, e.df);
}

struct stats_interval stats_paired_t(const double *differences, size_t n, double alpha)
{
	return interval_around(estimate_paired(differences, n), alpha);
}

struct stats_interval stats_welch(
	const double *x, size_t nx, const double *y, size_t ny, double alpha)
{
	return interval_around(estimate_welch(x, nx, y, ny), alpha);
}

double stats_welch_df(const double *x, size_t nx, const double *y, size_t ny)
{
	return estimate_welch(x, nx, y, ny).df;
}

double stats_paired_t_p(const double *differences, size_t n, double threshold)
{
	return p_above(estimate_paired(differences, n), threshold);
}

double stats_welch_p(const double *x, size_t nx, const double *y, size_t ny, double threshold)
{
	return p_above(estimate_welch(x, nx, y, ny), threshold);
}
