import { useEffect, type ReactNode } from 'react';

interface PageProps {
  title: string;
  /** One sentence under the title. */
  lead?: ReactNode;
  /** At the right of the title. */
  actions?: ReactNode;
  children: ReactNode;
}

/** The frame of every page: its title, also in the browser's, what one can do, and its content. */
export function Page({ title, lead, actions, children }: PageProps): ReactNode {
  useEffect(() => {
    document.title = `${title} · Console`;
  }, [title]);
  return (
    <div className="mx-auto flex w-full max-w-[90rem] flex-col gap-6 p-4 md:p-8">
      <header className="flex flex-wrap items-start gap-x-6 gap-y-3">
        <div className="min-w-0 grow basis-64">
          <h1 className="text-xl font-[650] tracking-tight">{title}</h1>
          {lead !== undefined && <p className="mt-1 max-w-[70ch] text-soft">{lead}</p>}
        </div>
        {actions !== undefined && <div className="flex flex-wrap gap-2">{actions}</div>}
      </header>
      {children}
    </div>
  );
}

interface SectionProps {
  title: string;
  lead?: ReactNode;
  actions?: ReactNode;
  children: ReactNode;
}

export function Section({ title, lead, actions, children }: SectionProps): ReactNode {
  return (
    <section className="flex flex-col gap-3">
      <header className="flex flex-wrap items-start gap-x-4 gap-y-2">
        <div className="grow">
          <h2 className="text-base font-semibold">{title}</h2>
          {lead !== undefined && <p className="max-w-[70ch] text-soft">{lead}</p>}
        </div>
        {actions}
      </header>
      {children}
    </section>
  );
}

/** A plain area with a line around it. */
export function Panel({ children, label }: { children: ReactNode; label?: string }): ReactNode {
  return (
    <div
      role={label === undefined ? undefined : 'group'}
      aria-label={label}
      className="rounded-panel border border-line p-4"
    >
      {children}
    </div>
  );
}
