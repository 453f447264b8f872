import type { FormEvent, ReactNode } from 'react';
import { Button } from './button.tsx';

interface StoredFormProps {
  /** Who may not change it reads its fields. */
  mayChange: boolean;
  edit: { save: () => void; busy: boolean; shown: ReactNode };
  /** What its button does, by its verb. */
  action: string;
  children: ReactNode;
}

/** Fields over what is stored, on a page or in a panel. */
export function StoredForm({ mayChange, edit, action, children }: StoredFormProps): ReactNode {
  const send = (event: FormEvent): void => {
    event.preventDefault();
    edit.save();
  };
  return (
    <form onSubmit={send} className="flex max-w-3xl min-w-0 flex-col gap-4">
      <fieldset disabled={!mayChange} className="contents">
        {children}
      </fieldset>
      {edit.shown}
      {mayChange && (
        <div>
          <Button type="submit" look="main" busy={edit.busy}>
            {action}
          </Button>
        </div>
      )}
    </form>
  );
}
