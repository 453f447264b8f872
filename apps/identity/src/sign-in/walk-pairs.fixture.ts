/** People who sign in, by what they come past. */
const SCENARIOS = [
  'plain',
  'factor',
  'recovery',
  'several',
  'enrol',
  'consent',
  'join',
  'sso',
  'sso-factor',
] as const;
export type Scenario = (typeof SCENARIOS)[number];

/** The forms of the pages, in the order in which one of a page is told. */
export const STEPS = [
  'allow',
  'join',
  'organization',
  'continue',
  'enrol',
  'recovery',
  'factor',
  'password',
  'sso',
  'email',
] as const;
/** Pages without a form: the way to the provider and back, and the way out. */
export type Step = (typeof STEPS)[number] | 'provider' | 'arrive' | 'leave';

/** The steps that each scenario comes past. */
const PATHS: Readonly<Record<Scenario, readonly Step[]>> = {
  plain: ['email', 'password', 'leave'],
  factor: ['email', 'password', 'factor', 'leave'],
  recovery: ['email', 'password', 'factor', 'recovery', 'leave'],
  several: ['email', 'password', 'organization', 'leave'],
  enrol: ['email', 'password', 'enrol', 'continue', 'leave'],
  consent: ['email', 'password', 'leave', 'allow'],
  join: ['email', 'password', 'join', 'leave'],
  sso: ['email', 'sso', 'provider', 'arrive', 'leave'],
  'sso-factor': ['email', 'sso', 'provider', 'arrive', 'factor', 'leave'],
};

/** Disturbances of a step. */
const DISTURBANCES = [
  'again at once',
  'again after a lost answer',
  'back button',
  'second tab of another organization',
  'database away: sign_ins',
  'database away: oauth_browser_states',
  'database away: sessions',
  'database away: oauth_tokens',
  'database away: sso_requests',
  'key rotated',
  'rights changed',
  'person suspended',
  'factor reset',
] as const;
export type Disturbance = (typeof DISTURBANCES)[number];
/** A scenario, the step at which it is disturbed, and the disturbance. */
export type Pair = readonly [scenario: Scenario, at: Step, disturbance: Disturbance];

/** Every step with every disturbance. */
export const PAIRS: readonly Pair[] = SCENARIOS.flatMap((scenario) =>
  PATHS[scenario].flatMap((step) =>
    DISTURBANCES.map((disturbance) => [scenario, step, disturbance] as const),
  ),
).filter(
  // Nobody else asks a provider.
  ([scenario, , disturbance]) => scenario.startsWith('sso') || disturbance !== 'database away: sso_requests',
);

/** Done by a person with the browser; what else happens, the platform alone meets. */
const IN_BROWSER: readonly Disturbance[] = [
  'again at once',
  'again after a lost answer',
  'back button',
  'second tab of another organization',
];
/** The pairs of which another browser makes something else. */
export const BROWSER_PAIRS = PAIRS.filter(([, , disturbance]) => IN_BROWSER.includes(disturbance));

/** Ends of a walk; whatever else comes of one is a fault of the pages. */
export type Outcome = 'signed in' | 'refused, with why and a way on' | 'the application was told';

export const AWAY = 'database away: ';
export const SUSPENDED = 'person suspended';

/** Lists the ends that a walk may have with a disturbance. */
export function endsOf(disturbance: Disturbance): readonly Outcome[] {
  if (disturbance === SUSPENDED)
    return ['signed in', 'refused, with why and a way on', 'the application was told'];
  return disturbance.startsWith(AWAY) ? ['signed in', 'the application was told'] : ['signed in'];
}
