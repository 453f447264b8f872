import { ChevronsUpDown } from 'lucide-react';
import type { ReactNode } from 'react';
import { usePerson } from '../session/use-session.tsx';

/** The classes of the button that opens the menu of the person. */
export const ACCOUNT_BUTTON = 'control flex w-full items-center gap-2.5 px-2 py-1 text-start hover:bg-hover';

/** The face of that button: the organization, and who is signed in. */
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
