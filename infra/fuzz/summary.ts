/** What is read of Schemathesis's JSON report. */
export interface Report {
  operations: { selected?: number; total?: number; tested?: number };
  test_cases: { generated?: number };
  failures: { code: string; title: string; count: number; operations: string[] }[];
}

/** What repeats a run. It has more digits than a number of JSON's reader keeps. */
export function seedOf(reportText: string): string {
  return /"seed":\s*"?(\d+)/.exec(reportText)?.[1] ?? 'unknown';
}

/** The findings by kind, each with the routes that it was found on. */
export function summarize({ operations, test_cases: cases, failures }: Report, seed: string): string[] {
  const found = failures.reduce((sum, { count }) => sum + count, 0);
  return [
    '',
    `${operations.tested ?? 0} of ${operations.total ?? 0} routes, ${cases.generated ?? 0} cases (seed ${seed}): ${found === 0 ? 'nothing found' : `${found} findings`}`,
    ...failures.flatMap(({ code, title, count, operations: routes }) => [
      `  ${code} ${title}: ${count}`,
      ...routes.map((route) => `    ${route}`),
    ]),
  ];
}
