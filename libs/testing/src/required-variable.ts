/** A variable that the test run's global setup provides. */
export function requiredVariable(name: string): string {
  const value = process.env[name];
  if (!value) throw new Error(`${name} is missing: the global setup of the test run provides it`);
  return value;
}
