import { lazy, Suspense, useState, type ReactNode } from 'react';
import { ACCOUNT_BUTTON, AccountFace } from './account-face.tsx';

const load = () => import('./account.tsx');
const Account = lazy(async () => ({ default: (await load()).Account }));

/** Shows who one is and where; the menu below it is a fifth of what the first page would load, and comes when it is asked for. */
export function AccountButton(): ReactNode {
  const [asked, setAsked] = useState(false);
  const button = (
    <button
      type="button"
      aria-haspopup="menu"
      aria-expanded={false}
      className={ACCOUNT_BUTTON}
      onPointerEnter={() => void load()}
      onFocus={() => void load()}
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
