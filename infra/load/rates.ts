const MOST = 100_000;

/**
 * Requests a second to try, one after another: `500`, `500,1000`, or a range with its step, `1000..4000:500`.
 * @throws Error of one sentence
 */
export function ratesOf(text: string): number[] {
  const rates = text.split(',').flatMap((part) => {
    const range = /^(\d+)\.\.(\d+):(\d+)$/.exec(part);
    if (!range) return [Number(part)];
    const [from = 0, to = 0, step = 0] = range.slice(1).map(Number);
    return step > 0
      ? Array.from({ length: Math.floor((to - from) / step) + 1 }, (_, at) => from + at * step)
      : [NaN];
  });
  if (rates.length === 0 || rates.some((rate) => !(Number.isInteger(rate) && rate > 0 && rate <= MOST)))
    throw new Error(
      `--rate takes requests a second: 500, or 500,1000, or 1000..4000:500 (at most ${MOST}); not "${text}".`,
    );
  return rates;
}

/** What one rate came to, as far as the knee is concerned. */
export interface Attempt {
  rate: number;
  p95: number;
  dropped: number;
  failed: number;
}

/** The highest rate that was held: all of it sent, all of it answered, p95 (milliseconds) below `budget`. */
export function kneeOf(attempts: readonly Attempt[], budget: number): number | undefined {
  const held = attempts.filter(({ p95, dropped, failed }) => p95 < budget && dropped === 0 && failed === 0);
  return held.length === 0 ? undefined : Math.max(...held.map(({ rate }) => rate));
}
