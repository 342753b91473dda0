// Style sheets are bundled, and have no types.
declare module "*.css";
