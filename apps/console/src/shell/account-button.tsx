import { ChevronsUpDown } from 'lucide-react';
import { lazy, Suspense, useState, type ReactNode } from 'react';
import { usePerson } from '../session/use-session.tsx';

const load = () => import('./account.tsx');
const Account = lazy(async () => ({ default: (await load()).Account }));

/** How the button looks that opens the menu of the person. */
export const ACCOUNT_BUTTON = 'control flex w-full items-center gap-2.5 px-2 py-1 text-start hover:bg-hover';

/** What stands on it. */
export function AccountFace(): ReactNode {
  const { name, organization } = usePerson();
  return (
    <>
      <span
        aria-hidden
        className="grid size-7 shrink-0 place-items-center rounded-control bg-accent font-semibold text-on-accent"
      >
        {organization.name.slice(0, 1).toUpperCase()}
      </span>
      <span className="min-w-0 grow">
        <span className="block truncate font-medium">{organization.name}</span>
        <span className="block truncate text-xs text-soft">{name}</span>
      </span>
      <ChevronsUpDown aria-hidden className="size-4 shrink-0 text-soft" />
    </>
  );
}

/** Who one is and where; the menu below it is a fifth of what the first page would load, and comes when it is asked for. */
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
