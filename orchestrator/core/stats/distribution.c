/* The normal and Student's distribution. */
#include "stats.h"

#include <math.h>

#define BETA_STEPS 500

double stats_normal_cdf(double z)
{
	return .5 * erfc(-z / M_SQRT2);
}

/* Keeps Lentz's denominators off zero. */
static double nonzero(double value)
{
	const double tiny = 1e-300;

	return fabs(value) < tiny ? tiny : value;
}

/*
 * The continued fraction of the incomplete beta function (Abramowitz and Stegun 26.5.8), evaluated
 * by the modified Lentz method.
 */
static double beta_fraction(double a, double b, double x)
{
	double c = 1;
	double d = 1 / nonzero(1 - (a + b) * x / (a + 1));
	double result = d;
	int m;

	for (m = 1; m <= BETA_STEPS; m++) {
		double even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m));
		double odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1));
		double step;

		d = 1 / nonzero(1 + even * d);
		c = nonzero(1 + even / c);
		result *= d * c;
		d = 1 / nonzero(1 + odd * d);
		c = nonzero(1 + odd / c);
		step = d * c;
		result *= step;
		if (fabs(step - 1) < 1e-15)
			break;
	}
	return result;
}

/* The regularised incomplete beta function I_x(a, b). */
static double beta_share(double a, double b, double x)
{
	double front;

	if (!(x > 0))
		return 0;
	if (x >= 1)
		return 1;
	front = exp(lgamma(a + b) - lgamma(a) - lgamma(b) + a * log(x) + b * log1p(-x));
	/* The fraction converges fast only on this side; the other follows from symmetry. */
	if (x < (a + 1) / (a + b + 2))
		return front * beta_fraction(a, b, x) / a;
	return 1 - front * beta_fraction(b, a, 1 - x) / b;
}

double stats_t_tail(double t, double df)
{
	double tail;

	if (isnan(t) || isnan(df) || df <= 0)
		return NAN;
	if (isinf(t))
		return t > 0 ? 0 : 1;
	tail = .5 * beta_share(df / 2, .5, df / (df + t * t));
	return t >= 0 ? tail : 1 - tail;
}

double stats_t_cdf(double t, double df)
{
	return stats_t_tail(-t, df);
}

double stats_t_quantile(double p, double df)
{
	double low = 0, high = 1, tail;
	int i;

	if (!(p > 0 && p < 1) || !(df > 0))
		return NAN;
	if (p < .5)
		return -stats_t_quantile(1 - p, df);
	tail = 1 - p;
	while (stats_t_tail(high, df) > tail && high < 1e300)
		high *= 2;
	/* Bisection: the tail is monotone, and this ends at a double's own resolution. */
	for (i = 0; i < 200; i++) {
		double middle = low + (high - low) / 2;

		if (middle <= low || middle >= high)
			break;
		if (stats_t_tail(middle, df) > tail)
			low = middle;
		else
			high = middle;
	}
	return low + (high - low) / 2;
}
