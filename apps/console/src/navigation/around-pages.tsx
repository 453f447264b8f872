import { Link, useLocation } from '@tanstack/react-router';
import { ChevronRight } from 'lucide-react';
import type { ReactNode } from 'react';
import { useTranslations } from 'use-intl';
import { useMay, usePerson } from '../session/use-session.tsx';
import { LeaveGuard } from './leave-guard.tsx';
import { ListKeys } from './list-keys.tsx';
import { partsAt, placesAbove, type Place } from './places.ts';

/** Adds what every page has besides itself and no first screen waits for: its keys, and the question before text is lost. */
export function AroundPages(): ReactNode {
  return (
    <>
      <LeaveGuard />
      <ListKeys />
    </>
  );
}

/** The address within the organization: `contacts/imports`. */
function usePath(): string {
  const { pathname } = useLocation();
  return pathname.split('/').slice(3).join('/').replace(/\/$/, '');
}

function useAddressOf(): (place: Place) => string {
  const { organization } = usePerson();
  return ({ path }) => `/o/${organization.slug}/${path}`;
}

/** The pages below the one of the menu that is open. */
export function SubPages(): ReactNode {
  const t = useTranslations('navigation');
  const path = usePath();
  const parts = partsAt(path, useMay());
  const addressOf = useAddressOf();
  const current = parts
    .filter((part) => path === part.path || path.startsWith(`${part.path}/`))
    .reduce<Place | undefined>(
      (longest, part) => (part.path.length > (longest?.path.length ?? -1) ? part : longest),
      undefined,
    );
  if (parts.length === 0) return null;
  return (
    <ul aria-label={t('parts')} className="ml-4.5 flex flex-col border-l border-line pl-2">
      {parts.map((part) => (
        <li key={part.path}>
          <Link
            to={addressOf(part)}
            activeOptions={{ exact: true, includeSearch: false }}
            aria-current={part === current ? 'page' : undefined}
            className="flex min-h-7 items-center rounded-control px-2.5 text-soft -outline-offset-2 hover:bg-hover hover:text-ink aria-[current=page]:font-medium aria-[current=page]:text-ink"
          >
            {t(`places.${part.name}`)}
          </Link>
        </li>
      ))}
    </ul>
  );
}

/** The way back up, above a page that has one. */
export function Breadcrumbs(): ReactNode {
  const t = useTranslations('navigation');
  const above = placesAbove(usePath(), useMay());
  const addressOf = useAddressOf();
  if (above.length === 0) return null;
  return (
    <nav aria-label={t('breadcrumbs')}>
      <ol className="flex items-center gap-1 text-xs text-soft">
        {above.map((place) => (
          <li key={place.path} className="flex items-center gap-1">
            <Link to={addressOf(place)} className="rounded-control px-1 hover:text-ink hover:underline">
              {t(`places.${place.name}`)}
            </Link>
            <ChevronRight aria-hidden className="size-3" />
          </li>
        ))}
      </ol>
    </nav>
  );
}
