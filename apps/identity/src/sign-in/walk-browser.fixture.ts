import type { SsoBench } from '../sso-connections/sso-bench.fixture.js';
import type { HostileProvider } from '../sso-connections/hostile-provider.fixture.js';
import type { Shown } from './page-visitor.fixture.js';

/** An act of a person on a page: fills in the form of a step and sends it, takes a link, or waits where it leads on by itself. */
export type Act =
  | { readonly form: string; readonly fields: Readonly<Record<string, string>> }
  | { readonly link: string }
  | 'wait';

/** A tab of a browser in which somebody walks; each method tells what is shown in the end. */
export interface WalkBrowser {
  open(address: string): Promise<Shown>;
  act(act: Act): Promise<Shown>;
  /** Does it twice before the first answer is there. */
  atOnce(act: Act): Promise<Shown>;
  /** Does it again after the platform has done it, whose answer never came. */
  afterLostAnswer(act: Act): Promise<Shown>;
  /** Does it and presses the back button. */
  back(act: Act): Promise<Shown>;
  /** A further tab of the same browser. */
  tab(): Promise<WalkBrowser>;
  /** Closes the browser with all its tabs. */
  close(): Promise<void>;
}

/** The ground of a walk: the platform with a provider beside it, and browsers that reach it. */
export interface WalkGround {
  readonly sso: SsoBench;
  readonly provider: HostileProvider;
  /** The address at which the platform believes to be. */
  readonly origin: string;
  /** The redirect URI of applications. */
  readonly callback: string;
  /** Further members of their registration. */
  readonly client: object;
  /** A browser that knows nothing yet, from an address of its own. */
  browser(from: string): Promise<WalkBrowser>;
  end(): Promise<void>;
}
