import { metrics } from '@customer-platform/http';
import { Problem } from '@customer-platform/problem-json';
import { counted } from './sign-in-metrics.js';

describe('the count of sign-ins', () => {
  const of = async (outcome: string): Promise<number> => {
    const text = await metrics.getSingleMetricAsString('sign_ins_total');
    const line = text.split('\n').find((each) => each.includes(`step="password",outcome="${outcome}"`));
    return Number(line?.split(' ').at(-1) ?? 0);
  };

  it.each<[string, () => Promise<unknown>]>([
    ['passed', () => Promise.resolve({})],
    ['wrong', () => Promise.resolve(undefined)],
    ['refused', () => Promise.reject(new Problem('rate_limited'))],
    ['failed', () => Promise.reject(new Problem('dependency_unavailable'))],
    ['failed', () => Promise.reject(new Error('a defect'))],
  ])('%s', async (outcome, work) => {
    const before = await of(outcome);
    await Promise.allSettled([counted('password', work())]);
    expect(await of(outcome)).toBe(before + 1);
  });
});
