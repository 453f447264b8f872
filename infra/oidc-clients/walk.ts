/** What a client of the provider is tried with, and how it tells what came of it. */

/** The flows, in the order in which each client walks them. */
export const FLOWS = [
  'discovery',
  'code',
  'userinfo',
  'refresh',
  'client-credentials',
  'introspection',
  'revocation',
  'sign-out',
] as const;

/** One of them. */
type Flow = (typeof FLOWS)[number];

/** Where the provider is, and the clients that are registered there. */
export interface Subject {
  readonly issuer: string;
  readonly client_id: string;
  readonly client_secret: string;
  readonly redirect_uri: string;
  readonly post_logout_redirect_uri: string;
  /** By client credentials. */
  readonly machine_id: string;
  readonly machine_secret: string;
  /** Who signs in. */
  readonly email: string;
  /** What the machine may read. */
  readonly api: string;
}

/** What a person does with a browser. @returns where it ends */
export interface Person {
  signIn(authorization: string): Promise<URL>;
  signOut(address: string): Promise<URL>;
}

/** How a flow went. */
export interface Outcome {
  readonly flow: string;
  /** Absent of one that passed. */
  readonly reason?: string;
}

/** A client by another's hands. */
export interface Client {
  readonly name: string;
  walk(subject: Subject, person: Person, tell: (outcome: Outcome) => void): Promise<void>;
}

/** Runs the steps in turn, and tells of each; what comes after one that failed cannot be tried. */
export async function inTurn(
  steps: Readonly<Record<Flow, () => Promise<void>>>,
  tell: (outcome: Outcome) => void,
): Promise<void> {
  for (const flow of FLOWS) {
    try {
      await steps[flow]();
      tell({ flow });
    } catch (error) {
      const { message, cause } = error as Error;
      const why = cause === undefined ? '' : ` ${JSON.stringify(cause)}`;
      tell({ flow, reason: `${message}${why}` });
      return;
    }
  }
}

/** @throws Error that says what was expected */
export function demand(condition: boolean, what: string): asserts condition {
  if (!condition) throw new Error(`expected ${what}`);
}
