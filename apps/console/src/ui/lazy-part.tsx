import { CatchBoundary, type ErrorComponentProps } from '@tanstack/react-router';
import { createElement, lazy, Suspense, type ComponentType, type ReactNode } from 'react';
import { useTranslations } from 'use-intl';
import { Note } from './notices.tsx';
import { PartFailure } from './page-failure.tsx';

/** So long after its page, a part that nobody asked for yet is loaded: the first screen and its data go before it. */
const LOADED_AFTER_MS = 2_000;

/** Waits for a network: a file that did not come once is never asked for again by browsers, until the page is loaded anew. */
async function online(): Promise<void> {
  if (navigator.onLine) return;
  await new Promise((resolve) => window.addEventListener('online', resolve, { once: true }));
}

/** A component whose file comes when it is shown, or once there is a network. */
export function lateComponent<Props extends object>(
  load: () => Promise<ComponentType<Props>>,
): ComponentType<Props> {
  return lazy(async () => {
    await online();
    return { default: await load() };
  });
}

interface LazyPartProps {
  fallback?: ReactNode;
  /** In its place, where it does not come. */
  failure?: (props: ErrorComponentProps) => ReactNode;
  children: ReactNode;
}

/** A part whose file comes later; where it does not come, that part alone says so. */
export function LazyPart({ fallback, failure = PartFailure, children }: LazyPartProps): ReactNode {
  return (
    <CatchBoundary getResetKey={() => 'late'} errorComponent={failure}>
      <Suspense fallback={fallback}>{children}</Suspense>
    </CatchBoundary>
  );
}

/**
 * A panel or a form that stands in front of a page after a press: its file is none of those that the page waits for, and
 * is there by the time it is asked for. Where it does not come, the foot of the page says so.
 */
export function lazyPart<Props extends object>(
  load: () => Promise<ComponentType<Props>>,
): ComponentType<Props> {
  const Part = lateComponent(load);
  // Where it does not come, who asks for it is told so.
  setTimeout(() => void Promise.allSettled([online().then(load)]), LOADED_AFTER_MS);
  return (props) => (
    <LazyPart failure={FootFailure} fallback={<Coming />}>
      {createElement(Part, props)}
    </LazyPart>
  );
}

/** Stands in place of what somebody asked for until it comes; says so where there is no network. */
export function Coming(): ReactNode {
  const t = useTranslations('shell');
  if (navigator.onLine) return <span aria-busy className="sr-only" />;
  return (
    <div className="sticky bottom-0 z-20 border-t border-line bg-raised p-4">
      <Note tone="warn">{t('comesOnline')}</Note>
    </div>
  );
}

/** Always in sight, however long the list above it is. */
export function FootFailure({ error }: Pick<ErrorComponentProps, 'error'>): ReactNode {
  return (
    <div className="sticky bottom-0 z-20 border-t border-line bg-raised">
      <PartFailure error={error} />
    </div>
  );
}
