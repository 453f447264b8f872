import { Link, type LinkProps } from '@tanstack/react-router';
import type { ComponentProps, ReactNode } from 'react';
import { classNames } from './class-names.ts';

type Look = 'main' | 'plain' | 'quiet' | 'danger';

const LOOKS: Record<Look, string> = {
  main: 'bg-accent text-on-accent hover:bg-accent-strong font-medium',
  plain: 'border border-edge bg-canvas hover:bg-hover font-medium',
  quiet: 'hover:bg-hover text-soft hover:text-ink',
  danger: 'border border-bad text-bad hover:bg-bad-soft font-medium',
};

const SHAPE =
  'control inline-flex items-center justify-center gap-2 px-3 whitespace-nowrap transition-colors duration-100 disabled:opacity-55';

interface ButtonProps extends ComponentProps<'button'> {
  look?: Look;
  /** Under way: it says so and takes no second press. */
  busy?: boolean;
}

export function Button({
  look = 'plain',
  busy = false,
  disabled,
  className,
  ...rest
}: ButtonProps): ReactNode {
  return (
    <button
      type="button"
      aria-busy={busy || undefined}
      disabled={disabled === true || busy}
      className={classNames(SHAPE, LOOKS[look], className)}
      {...rest}
    />
  );
}

interface IconButtonProps extends ButtonProps {
  label: string;
}

/** A button of an icon alone; its label is read out, and shown on hover. */
export function IconButton({ label, className, look = 'quiet', ...rest }: IconButtonProps): ReactNode {
  return (
    <Button
      aria-label={label}
      title={label}
      look={look}
      className={classNames('min-w-9 px-0!', className)}
      {...rest}
    />
  );
}

/** Goes to another page and looks like a button. */
export function ButtonLink({
  look = 'plain',
  children,
  ...rest
}: LinkProps & { look?: Look; children: ReactNode }): ReactNode {
  return (
    <Link className={classNames(SHAPE, LOOKS[look])} {...rest}>
      {children}
    </Link>
  );
}
