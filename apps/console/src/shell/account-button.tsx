import { Suspense, useState, type ReactNode } from 'react';
import { lateComponent } from '../ui/lazy-part.tsx';
import { ACCOUNT_BUTTON, AccountFace } from './account-face.tsx';

const load = () => import('./account.tsx');
const Account = lateComponent(async () => (await load()).Account);
/** Loads the menu ahead where there is a network: without one it would not come, and would never be asked for again. */
const preload = (): void => void (navigator.onLine && load());

/** Shows who one is and where; the menu below it is a fifth of what the first page would load, and comes when it is asked for. */
export function AccountButton(): ReactNode {
  const [asked, setAsked] = useState(false);
  const button = (
    <button
      type="button"
      aria-haspopup="menu"
      aria-expanded={false}
      className={ACCOUNT_BUTTON}
      onPointerEnter={preload}
      onFocus={preload}
      onClick={() => setAsked(true)}
    >
      <AccountFace />
    </button>
  );
  return asked ? (
    <Suspense fallback={button}>
      <Account />
    </Suspense>
  ) : (
    button
  );
}
