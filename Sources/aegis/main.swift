print("aegis")
